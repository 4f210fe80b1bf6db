import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Configuration, Provider } from 'oidc-provider'
import { Agent, request } from 'undici'

export const machineSecret = 'a secret of a program'

/** A certified OpenID provider in this process. Everybody who logs in is in the group `platform`. */
export class IdentityProvider {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** @param issuer its external URL, with the path /broker */
  static async start(issuer: string): Promise<IdentityProvider> {
    const provider = new Provider(issuer, configuration)
    provider.proxy = true
    const answer = provider.callback()
    const server = createServer((incoming, outgoing) => {
      const { url = '' } = incoming
      // Mounted below /broker, as a framework would do it.
      Object.assign(incoming, { originalUrl: url, url: url.replace(/^\/broker/, '') || '/' })
      answer(incoming, outgoing)
    })
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done)
    })
    return new IdentityProvider(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code'
const groups = ['platform']

const configuration: Configuration = {
  clients: [
    {
      client_id: 'depot',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token', deviceCode],
      response_types: ['code'],
      redirect_uris: Array.from({ length: 11 }, (_, n) => `http://localhost:${10_000 + n}/login`),
    },
    {
      client_id: 'ci',
      client_secret: machineSecret,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    },
  ],
  scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
  claims: { openid: ['sub'], profile: ['name'], email: ['email'], groups: ['groups'] },
  conformIdTokenClaims: false,
  findAccount: (_context, accountId) => ({
    accountId,
    claims: () => Promise.resolve({ sub: accountId, groups, email: `${accountId}@example.com` }),
  }),
  extraTokenClaims: (_context, token) => (token.kind === 'AccessToken' ? { groups } : undefined),
  features: {
    deviceFlow: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'urn:depot',
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, _resource, client) => ({
        scope: 'openid profile email groups',
        audience: client.clientId,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 3600,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
}

/** Asks a server by whatever name, wherever it is; its certificate is not looked at. */
export class Client {
  readonly #server: string
  readonly #agent = new Agent({ allowH2: false, connect: { rejectUnauthorized: false } })
  readonly #cookies = new Map<string, string>()

  /** @param server where every request goes, such as https://127.0.0.1:8443 */
  constructor(server: string) {
    this.#server = server
  }

  async send(url: string, form?: Readonly<Record<string, string>>, headers: object = {}) {
    const { host, pathname, search } = new URL(url)
    const cookie = Array.from(this.#cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const response = await request(`${this.#server}${pathname}${search}`, {
      dispatcher: this.#agent,
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        host,
        ...(cookie && { cookie }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      ...(form && { body: new URLSearchParams(form).toString() }),
    })
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const location = [response.headers['location'] ?? []].flat()[0]
    return { status: response.statusCode, location, text: await response.body.text() }
  }

  /**
   * Does what a person does in a browser: follows, fills in the forms of the provider, and agrees to everything.
   *
   * @returns the final address outside of the provider, or the last page
   */
  async browse(start: string): Promise<string> {
    let url = start
    let form: Record<string, string> | undefined
    for (let step = 0; step < 20; step++) {
      const { status, location, text } = await this.send(url, form)
      form = undefined
      if (location !== undefined) {
        url = new URL(location, url).href
        if (url.startsWith('http://localhost:')) return url
        continue
      }
      const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1]
      if (status >= 400 || action === undefined) return text
      url = new URL(action.replaceAll('&amp;', '&'), url).href
      form = { login: 'alice', username: 'alice', password: 'anything', ...fieldsOf(text) }
    }
    throw new Error(`this login never ends: ${url}`)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

/** The fields that a page has filled in already. */
function fieldsOf(page: string): Record<string, string> {
  const inputs = page.match(/<input[^>]*>/g) ?? []
  const attribute = (tag: string, name: string) =>
    new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  return Object.fromEntries(
    inputs
      .filter((tag) => attribute(tag, 'type') === 'hidden' || attribute(tag, 'value') !== '')
      .map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')]),
  )
}
