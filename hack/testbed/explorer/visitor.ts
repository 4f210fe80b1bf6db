import { request } from 'undici'
import { dataOf } from './pages.ts'

export interface Seen {
  /** Its address, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const mostSteps = 20
/** The explorer waits 300 ms for the registry; a busy machine needs more, but not for ever. */
const mostReloads = 200

/** A browser without a screen: cookies by host, redirects, forms, and the headers that name a request's origin. */
export class Visitor {
  /** By host, then by name. */
  readonly #jars = new Map<string, Map<string, string>>()
  /** Every URL that it asked for. */
  readonly visited: string[] = []

  /** The cookies of a host, by name. */
  cookies(url: string): Map<string, string> {
    const { host } = new URL(url)
    const jar = this.#jars.get(host) ?? new Map<string, string>()
    this.#jars.set(host, jar)
    return jar
  }

  /** One request, no redirect followed. */
  async ask(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Seen> {
    this.visited.push(url)
    const jar = this.cookies(url)
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ')
    const answer = await request(url, {
      method,
      headers: { ...(cookie && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) keep(jar, line)
    const { statusCode: status } = answer
    return { url, status, headers: answer.headers, text: await answer.body.text() }
  }

  /** Opens a page as a person does who types its address, and follows redirects. */
  async open(url: string): Promise<Seen> {
    return this.#follow(await this.ask(url, { headers: navigation('none') }))
  }

  /** Opens a page. If that leads to the provider, signs in there and agrees. */
  async signIn(url: string, login = 'alice'): Promise<Seen> {
    let seen = await this.open(url)
    for (let step = 0; step < mostSteps; step++) {
      const action = /<form[^>]* action="([^"]+)"/.exec(seen.text)?.[1]
      if (action === undefined) return seen
      const fields = { login, password: 'anything', ...hiddenFields(seen.text) }
      const next = await this.ask(new URL(action.replaceAll('&amp;', '&'), seen.url).href, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...navigation('same-origin'),
        },
        body: new URLSearchParams(fields).toString(),
      })
      seen = await this.#follow(next)
    }
    throw new Error(`this sign-in never ends: ${seen.url}`)
  }

  /** Sends a request as a script of the page does. */
  async script(url: string, sent: Sent = {}): Promise<Seen> {
    return this.ask(url, {
      ...sent,
      headers: {
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
        ...(sent.body !== undefined && { 'content-type': 'application/json' }),
        ...sent.headers,
      },
    })
  }

  /**
   * The page after all redirects. A page without its list is loaded again: its script would ask for the list, and if
   * the registry wants to know who asks, it would go to the login, as the server does that has heard so in time.
   */
  async #follow(first: Seen): Promise<Seen> {
    let seen = first
    let reloads = 0
    for (let step = 0; step < mostSteps; step++) {
      while (cameEarly(seen)) {
        reloads += 1
        if (reloads > mostReloads) throw new Error(`the registry never answers for ${seen.url}`)
        seen = await this.ask(seen.url, { headers: navigation('same-origin') })
      }
      const location = [seen.headers['location'] ?? []].flat()[0]
      if (location === undefined) return seen
      const url = new URL(location, seen.url)
      const site = url.origin === new URL(seen.url).origin ? 'same-origin' : 'cross-site'
      seen = await this.ask(url.href, { headers: navigation(site) })
    }
    throw new Error(`these redirects never end: ${seen.url}`)
  }
}

/** True for a page that was sent before the registry had answered. */
const cameEarly = ({ status, text }: Seen): boolean =>
  status === 200 && dataOf(text, 'boot') !== undefined && dataOf(text, 'prime') === undefined

function navigation(site: string): Record<string, string> {
  return { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
}

function keep(jar: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
  const isGone = value === '' || /;\s*(?:max-age=0|expires=thu, 01 jan 1970)/i.test(line)
  if (isGone) jar.delete(name)
  else jar.set(name, value)
}

function hiddenFields(page: string): Record<string, string> {
  const inputs = page.match(/<input[^>]*type="hidden"[^>]*>/g) ?? []
  const attribute = (tag: string, name: string) =>
    new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  return Object.fromEntries(inputs.map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')]))
}
