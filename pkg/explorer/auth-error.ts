import { Hono } from 'hono'
import { html } from 'hono/html'
import type { Reason } from '../base/errors/errors.ts'
import { openDoor } from './door.ts'
import type { ExplorerEnv } from './request.ts'

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
    return openDoor(c, stylesheets, {
      title,
      content: html`<p>${text}</p>
<div class="actions"><a class="btn main" href="/auth/login">Sign in again</a><a class="btn" href="/">Continue without signing in</a></div>
<section class="sec"><header><h2>For whoever helps you</h2></header><dl class="facts-list one"><div><dt>Reason</dt><dd><code>${reason}</code></dd></div><div><dt>Issuer</dt><dd><code>${issuerUrl}</code></dd></div><div><dt>Time</dt><dd><code>${new Date().toISOString()}</code></dd></div></dl></section>`,
    })
  })
}

function isProblem(text: string): text is LoginProblem {
  return Object.hasOwn(problems, text)
}
