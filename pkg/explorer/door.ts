import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { parse } from 'hono/utils/cookie'
import type { Reason } from '../base/errors/errors.ts'
import { parseTheme, themeCookie } from './boot.ts'
import type { Issuer } from './issuer.ts'
import { type ExplorerContext, type ExplorerEnv, note } from './request.ts'

type Html = ReturnType<typeof html>

/**
 * Answers with a page without scripts, outside of the app, for people without a session.
 *
 * @param stylesheets paths of the built style sheets
 * @param content HTML below the heading
 */
function openDoor(
  c: ExplorerContext,
  stylesheets: readonly string[],
  title: string,
  content: Html,
): Response | Promise<Response> {
  note(c, c.req.path)
  const page = html`<!doctype html>
<html${raw(themeAttribute(c))} lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Depot</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${stylesheets.map((href) => html`<link rel="stylesheet" href="${href}">`)}
</head>
<body>
<div class="door">
<header><a class="brand" href="/"><img src="/favicon.svg" alt="">Depot</a></header>
<main><h1>${title}</h1>${content}</main>
</div>
</body>
</html>`
  return c.html(page, 200, { 'Cache-Control': 'no-store' })
}

/** Attribute of the html element, with a space before it; empty for the theme of the system. */
export function themeAttribute(c: ExplorerContext): string {
  const theme = parseTheme(parse(c.req.header('cookie') ?? '', themeCookie)[themeCookie])
  return theme === undefined ? '' : ` data-theme="${theme}"`
}

const path = '/auth/error'

/** Texts about failed sign-ins. They show nothing of the URL except the count. */
const problems = {
  SignInDenied: ['Sign-in was cancelled', () => 'You, or your identity provider, refused access.'],
  SignInRefused: [
    'Sign-in failed',
    () => 'The explorer could not accept the answer of the identity provider. Its log says why.',
  ],
  NoSignInAttempt: [
    'Sign-in was not finished',
    () =>
      'This browser did not start the sign-in, it took longer than 10 minutes, or the link was used before.',
  ],
  IssuerUnavailable: [
    'The identity provider cannot be reached',
    () => 'Public pages still work. Try again in a moment.',
  ],
  NoSession: [
    'Your browser did not keep the session',
    () => 'You signed in, but the session came back empty. Allow cookies for this site.',
  ],
  TooManyGroups: [
    'Your identity carries too many groups',
    (count: number) =>
      `Your token names ${count === 0 ? 'more groups' : `${count} groups, more`} than a browser can keep. Ask for fewer of them in the token: filter the groups claim at the identity provider.`,
  ],
} as const satisfies Partial<Record<Reason, readonly [string, (count: number) => string]>>

export type LoginProblem = keyof typeof problems

export function errorPath(problem: LoginProblem, count?: number): string {
  return `${path}?reason=${problem}${count === undefined ? '' : `&count=${count}`}`
}

/** @param stylesheets paths of the built style sheets */
export function authErrorRoutes(
  stylesheets: readonly string[],
  issuerUrl: string | undefined,
): Hono<ExplorerEnv> {
  return new Hono<ExplorerEnv>().get(path, (c) => {
    const asked = c.req.query('reason') ?? ''
    const reason = isProblem(asked) ? asked : 'SignInRefused'
    const [title, explain] = problems[reason]
    const count = c.req.query('count') ?? ''
    const text = explain(/^\d{1,6}$/.test(count) ? Number(count) : 0)
    return openDoor(
      c,
      stylesheets,
      title,
      html`<p>${text}</p>
<div class="actions"><a class="btn main" href="/auth/login">Sign in again</a><a class="btn" href="/">Continue without signing in</a></div>
<section class="sec"><header><h2>For whoever helps you</h2></header><dl class="facts-list one"><div><dt>Reason</dt><dd><code>${reason}</code></dd></div><div><dt>Issuer</dt><dd><code>${issuerUrl}</code></dd></div><div><dt>Time</dt><dd><code>${new Date().toISOString()}</code></dd></div></dl></section>`,
    )
  })
}

function isProblem(text: string): text is LoginProblem {
  return Object.hasOwn(problems, text)
}

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
    return openDoor(
      c,
      stylesheets,
      'You are signed out',
      html`<p>${isPrivate ? 'This page needs a sign-in.' : 'This browser has no session of Depot.'}</p>
<div class="actions"><a class="btn main" href="/auth/login">Sign in</a>${isPrivate ? '' : html`<a class="btn" href="/">Look at public modules</a>`}</div>
${endsThere ? '' : stillSignedIn(issuer.oidc.issuerUrl, c.var.external.origin)}`,
    )
  })
}

/** @param ours origin of the explorer; a broker at this origin has no page of its own */
function stillSignedIn(issuerUrl: string, ours: string) {
  const { origin, host } = new URL(issuerUrl)
  const at = origin === ours ? 'your identity provider' : html`<b>${host}</b>`
  return html`<div class="note"><p>You may still be signed in at ${at}. On a shared computer, sign out there too.</p>${origin === ours ? '' : html`<a class="btn" href="${origin}">Open</a>`}</div>`
}
