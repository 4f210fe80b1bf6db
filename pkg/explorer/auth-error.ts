import { Hono } from 'hono'
import type { Reason } from '../base/errors/errors.ts'
import { type ExplorerContext, type ExplorerEnv, note } from './request.ts'
import { themeAttribute } from './theme.ts'

const path = '/auth/error'

/** Texts about failed sign-ins. Nothing of the URL is shown except the count. */
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

/** A page without scripts. @param stylesheets paths of the built style sheets */
export function authErrorRoutes(stylesheets: readonly string[]): Hono<ExplorerEnv> {
  return new Hono<ExplorerEnv>().get(path, (c: ExplorerContext) => {
    note(c, path)
    const reason = c.req.query('reason') ?? ''
    const [title, explain] = problems[isProblem(reason) ? reason : 'SignInRefused']
    const count = c.req.query('count') ?? ''
    const text = explain(/^\d{1,6}$/.test(count) ? Number(count) : 0)
    const links = stylesheets.map((href) => `<link rel="stylesheet" href="${href}">`).join('')
    return c.html(
      `<!doctype html><html${themeAttribute(c)} lang="en"><head><meta charset="utf-8"><title>${title} · Depot</title><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="icon" href="/favicon.svg" type="image/svg+xml">${links}</head><body><main class="auth-error"><h1>${title}</h1><p>${text}</p><p><a class="button" href="/auth/login">Sign in again</a> <a href="/">Registry</a></p></main></body></html>`,
      200,
      { 'Cache-Control': 'no-store' },
    )
  })
}

function isProblem(text: string): text is LoginProblem {
  return Object.hasOwn(problems, text)
}
