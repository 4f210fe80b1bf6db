import type { Boot } from '../../boot.ts'
import { boot } from '../api/boot.ts'
import { forgetAnswers } from '../api/use-query.ts'
import { readStored, writeStored } from './storage.ts'
import { forgetVisits } from './visits.ts'

/* Sign-in, sign-out and the developer token. The server keeps tokens. Only a typed one passes through here. */

const justMs = 60_000
const leftKey = 'depot-login'

/**
 * Whether a login has just ended, so that another one would end the same way. `signedInAt` is a time of the server. The clock
 * of this machine may be ahead, so the time at which this tab last left for the login counts, too.
 */
export const justSignedIn = (): boolean =>
  boot.signedInAt !== undefined && Date.now() - Math.max(boot.signedInAt, leftAt()) < justMs

const leftAt = (): number => Number(readStored('sessionStorage', leftKey) ?? 0)

const here = (): string => location.pathname + location.search + location.hash

export const loginHref = (): string => `/auth/login?returnTo=${encodeURIComponent(here())}`

/** Goes to the login. Returns false if a 401 has to be explained instead. */
export function goToLogin(): boolean {
  if (!boot.oidc || boot.devTokenInUse || justSignedIn()) return false
  writeStored('sessionStorage', leftKey, String(Date.now()))
  location.assign(`${loginHref()}&auto`)
  return true
}

/** The state of the session, or where to go after signing out. */
interface Answer extends Token {
  readonly location?: string
}

async function send(path: string, method: 'POST' | 'DELETE', body?: object): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`The explorer answered ${response.status}.`)
  const text = await response.text()
  return text === '' ? {} : (JSON.parse(text) as Answer)
}

const signedOutKey = 'depot-signed-out'

/** Leaves the page when another tab signs out, because the page shows what only the session allowed. */
export function signOutWithOtherTabs(): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === signedOutKey && newValue !== null) location.assign('/auth/signed-out')
  })
}

/** Ends the session here, then at the issuer if it has a page for that. */
export async function signOut(): Promise<void> {
  const { location: next = '/' } = await send('/auth/logout', 'POST', {})
  writeStored('localStorage', signedOutKey, String(Date.now()))
  forgetAnswers()
  forgetVisits()
  location.assign(next)
}

export async function saveDevToken(token: string): Promise<void> {
  await send('/auth/dev-token', 'POST', { token })
  location.reload()
}

export async function clearDevToken(): Promise<void> {
  await send('/auth/dev-token', 'DELETE')
  location.reload()
}

const soonestMs = 5000
const longestTimer = 2 ** 31 - 1

/** Extends the login before its token expires, once for all tabs. */
export function keepSignedIn(): void {
  schedule(boot)
}

type Token = Pick<Boot, 'expiresAt' | 'refreshInMs'>

function schedule({ expiresAt, refreshInMs }: Token): void {
  if (expiresAt === undefined || refreshInMs === undefined) return
  const wait = Math.min(Math.max(refreshInMs, soonestMs), longestTimer)
  setTimeout(() => void refresh(expiresAt), wait)
}

/** @param known end of the token; another tab may have extended it already */
async function refresh(known: number): Promise<void> {
  try {
    const token = await inOneTab(() => send('/auth/refresh', 'POST', { expiresAt: known }))
    if ((token.expiresAt ?? 0) > known) schedule(token)
  } catch {
    // While the issuer is unreachable, the login stays valid until it ends.
    if (Date.now() < known) schedule({ expiresAt: known, refreshInMs: 0 })
  }
}

/** One tab at a time. Browsers have no locks on http pages of other machines. */
const inOneTab = <T>(work: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? navigator.locks.request('depot-refresh', work) : work()
