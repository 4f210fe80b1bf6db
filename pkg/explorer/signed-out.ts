import { Hono } from 'hono'
import { html } from 'hono/html'
import { openDoor } from './door.ts'
import type { Issuer } from './issuer.ts'
import type { ExplorerEnv } from './request.ts'

export const signedOutPath = '/auth/signed-out'
/** Set from a sign-out until somebody clicks to sign in. */
export const signedOutCookie = 'signed-out'
export const signedOutSeconds = 86_400

/** The page after a sign-out, here and at the issuer. It never redirects. */
export function signedOutRoutes(issuer: Issuer, stylesheets: readonly string[]): Hono<ExplorerEnv> {
  return new Hono<ExplorerEnv>().get(signedOutPath, async (c) => {
    const configuration = await issuer.configuration().catch(() => undefined)
    const endsThere = configuration?.serverMetadata().end_session_endpoint !== undefined
    // Pages that need a sign-in redirect here.
    const isPrivate = c.req.query('private') !== undefined
    return openDoor(c, stylesheets, {
      title: 'You are signed out',
      content: html`<p>${isPrivate ? 'This page needs a sign-in.' : 'This browser has no session of Depot.'}</p>
<div class="actions"><a class="btn main" href="/auth/login">Sign in</a>${isPrivate ? '' : html`<a class="btn" href="/">Look at public modules</a>`}</div>
${endsThere ? '' : stillSignedIn(issuer.oidc.issuerUrl, c.var.external.origin)}`,
    })
  })
}

/** @param ours origin of the explorer; a broker at this origin has no page of its own */
function stillSignedIn(issuerUrl: string, ours: string) {
  const { origin, host } = new URL(issuerUrl)
  const at = origin === ours ? 'your identity provider' : html`<b>${host}</b>`
  return html`<div class="note"><p>You may still be signed in at ${at}. On a shared computer, sign out there too.</p>${origin === ours ? '' : html`<a class="btn" href="${origin}">Open</a>`}</div>`
}
