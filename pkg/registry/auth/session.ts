import { hash, randomBytes } from 'node:crypto'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { CappedMap, characterBytes, keptText } from '../../base/memory/memory.ts'
import type { RequestFacts } from '../../base/telemetry/telemetry.ts'
import { allows } from '../access/access.ts'
import type { AuthMode, Caller, CallerKind, CallerView } from './caller.ts'
import type { Refusal } from './refusal.ts'

/** Credentials as they came, and what to call them. */
export interface Presented {
  readonly format: 'token' | 'kubeconfig'
  /** What stood behind the scheme of the header. */
  readonly token: string
  /** Of the token, keyed; stands for the credentials in every key. */
  readonly hash: string
}

/** A caller, with what follows from who it is. */
export interface CallerSession {
  readonly caller: Caller
  /** Only of `passthrough`: what the cluster will be shown. */
  readonly presented?: Presented
  /** What the GroupBindings let it see, as of a revision of them; nothing where one cannot be evaluated. */
  seen?: { readonly revision: number; readonly visibility: Visibility | undefined }
}

/** How many names a view remembers: more than most teams use. */
const maxNames = 500
/** What can be the name of a resource: the others are not remembered. */
const isName = /^[\w.-]{1,253}$/

/** What callers may see: all who have the same view share one. */
export class Visibility {
  readonly view: CallerView
  /** How the view is called in logs. */
  readonly name: string
  /**
   * Of modules, whose names are compared with patterns. A plain map: thousands of callers take turns, and nothing that is
   * between them and the answer is in the processor's caches.
   */
  readonly #known = new CappedMap<string, boolean>(maxNames)

  constructor(view: CallerView) {
    this.view = view
    this.name = typeof view === 'string' ? view : `binding ${view.name}`
  }

  /** How many names it remembers; for tests of the bound. */
  get remembered(): number {
    return this.#known.size
  }

  /** Whether a module or provider is seen, public or not. */
  allows(kind: ParentKind, name: string): boolean {
    const { view } = this
    if (typeof view === 'string') return view === 'all'
    if (kind === 'Provider') return allows(view, kind, name)
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const isAllowed = allows(view, kind, name)
    if (!isName.test(name)) return isAllowed
    this.#known.set(keptText(name), isAllowed)
    return isAllowed
  }
}

/** Finds out who sent a token that is not known. At once where nothing has to be asked for. */
export interface Callers {
  /**
   * @param token what stood behind `Bearer`
   * @param hash of the token, keyed
   * @throws Refusal
   */
  identify(token: string, hash: string): CallerSession | Promise<CallerSession>
  /** What callers without a token are told where they are not let in. */
  missing(): Refusal
}

/** A caller about whom no more is known than how it came. */
export function unnamedSession(mode: AuthMode, kind: CallerKind): CallerSession {
  return { caller: { mode, kind, subject: undefined, groups: [], hash: undefined } }
}

/** A caller whom only the cluster knows. */
export function passthroughSession(
  mode: 'kubeconfig' | 'bearer' | 'oidc',
  presented: Presented,
): CallerSession & { readonly presented: Presented } {
  const { caller } = unnamedSession(mode, 'passthrough')
  return { caller: { ...caller, hash: callerHashOf(presented.hash) }, presented }
}

/**
 * Names what must not be kept or shown. The key lives and dies with the process, so that it cannot be found out what was hashed
 * by trying. The digests are no signatures: that a hashed text could be extended is of no use here, and a plain hash
 * costs a quarter of an HMAC, at every request.
 *
 * @returns a function to 43 characters of base64url
 */
export function createKeyedHash(): (text: string) => string {
  // The text is put behind the key where the one before was, because a text of both would be garbage of a kilobyte or two.
  const bytes = Buffer.allocUnsafeSlow(keyBytes + longestInPlace * characterBytes)
  const key = randomBytes(keyBytes)
  bytes.set(key)
  return (text) => {
    if (text.length > longestInPlace) {
      return hash('sha256', Buffer.concat([key, Buffer.from(text)]), 'base64url')
    }
    const end = keyBytes + bytes.write(text, keyBytes)
    return hash('sha256', bytes.subarray(0, end), 'base64url')
  }
}

const keyBytes = 32
/** Characters of a token. Few have more than 2000. */
const longestInPlace = 8192

/** Enough of a hash to tell callers apart in a log. */
export function callerHashOf(hashed: string): string {
  return hashed.slice(0, 12)
}

/** Tells the access log about a caller. @param view how it is called there */
export function noteCaller(
  facts: RequestFacts | undefined,
  { mode, hash: callerHash, subject }: Caller,
  view: string,
): void {
  if (facts === undefined) return
  facts.mode = mode
  if (callerHash !== undefined) facts.callerHash = callerHash
  if (subject !== undefined) facts.subject = subject
  facts.view = view
}
