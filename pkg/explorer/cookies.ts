import { parse, serialize } from 'hono/utils/cookie'

/** Browsers accept cookies of at most 4096 bytes, including name and attributes. */
const largestValue = 3800
const mostParts = 2

/** Names of the explorer's cookies begin with this, after the prefix that browsers reserve for https. */
const ours = /^(?:__Host-)?depot-/i

/** Cookies of a request and of its answer. Over https, the prefix `__Host-` binds them to this host. */
export class Cookies {
  readonly #known: Record<string, string>
  readonly #isHttps: boolean
  readonly #lines: string[] = []

  constructor(header: string | undefined, isHttps: boolean) {
    this.#known = parse(header ?? '')
    this.#isHttps = isHttps
  }

  /** The `Set-Cookie` lines of the answer. */
  get lines(): readonly string[] {
    return this.#lines
  }

  get(name: string): string | undefined {
    return this.#known[this.#prefixed(name)]
  }

  /** Names without prefix, oldest first, as browsers send them. */
  names(start: string): string[] {
    const prefix = this.#prefixed('')
    return Object.keys(this.#known)
      .filter((name) => name.startsWith(prefix + start))
      .map((name) => name.slice(prefix.length))
  }

  set(name: string, value: string, maxAgeSeconds: number): void {
    this.#lines.push(
      serialize(this.#prefixed(name), value, {
        path: '/',
        httpOnly: true,
        secure: this.#isHttps,
        sameSite: 'Lax',
        maxAge: Math.max(0, Math.floor(maxAgeSeconds)),
      }),
    )
  }

  clear(name: string): void {
    this.set(name, '', 0)
  }

  /** A value that may be split over two cookies. */
  getLong(name: string): string | undefined {
    const first = this.get(name)
    return first === undefined ? undefined : first + (this.get(`${name}.1`) ?? '')
  }

  /** @returns false, and sets nothing, if the value does not fit into two cookies */
  setLong(name: string, value: string, maxAgeSeconds: number): boolean {
    if (value.length > largestValue * mostParts) return false
    this.set(name, value.slice(0, largestValue), maxAgeSeconds)
    const rest = value.slice(largestValue)
    if (rest !== '') this.set(`${name}.1`, rest, maxAgeSeconds)
    else if (this.get(`${name}.1`) !== undefined) this.clear(`${name}.1`)
    return true
  }

  clearLong(name: string): void {
    this.clear(name)
    this.clear(`${name}.1`)
  }

  #prefixed(name: string): string {
    return `${this.#isHttps ? '__Host-' : ''}depot-${name}`
  }
}

/** A Cookie header without the explorer's cookies, in any letter case; undefined if no cookie is left. */
export function foreignCookies(header: string | undefined): string | undefined {
  const kept = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !ours.test(pair))
  return kept.length === 0 ? undefined : kept.join('; ')
}

/** Whether a `Set-Cookie` line of another server would replace one of the explorer's cookies. */
export const setsOurCookie = (line: string): boolean => ours.test(line.trim())
