import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export const clientSecret = 'a secret of the explorer'

export interface SignInOptions {
  /** The addresses that browsers may return to. */
  readonly callbacks: readonly string[]
  /** The addresses for after signing out. */
  readonly origins?: readonly string[]
  /** Default: its own URL. */
  readonly issuer?: string
  /** Default: a free one. */
  readonly port?: number
  /** Default 3600. */
  readonly idTokenSeconds?: number
  /** Whether it ends sessions of people. Default: true. */
  readonly endsSessions?: boolean
}

/**
 * A certified OpenID provider for people with a browser, in this process. Its clients are `depot-ui` with a secret and
 * `depot-ui-public` without. A person who signs in with any password is in the group `platform`; `many-N` is in N groups,
 * `noise-N` in N groups that cannot be compressed, `visitor` is in no group that a binding names, and `lonely` has no claim
 * `groups`.
 */
export class SignInProvider {
  readonly #server: Server
  #tokenRequests = 0

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(options: SignInOptions): Promise<SignInProvider> {
    const { port = 0 } = options
    const server = createServer()
    await new Promise<void>((done) => {
      server.listen(port, '127.0.0.1', done)
    })
    const started = new SignInProvider(server)
    const issuer = options.issuer ?? started.url
    const provider = new Provider(issuer, configurationOf(options))
    provider.proxy = true
    const { pathname } = new URL(issuer)
    const answer = provider.callback()
    server.on('request', (incoming, outgoing) => {
      const { url = '' } = incoming
      const below = pathname !== '/' && url.startsWith(pathname) ? url.slice(pathname.length) : url
      Object.assign(incoming, { originalUrl: url, url: below || '/' })
      if (below === '/token') started.#tokenRequests += 1
      answer(incoming, outgoing)
    })
    return started
  }

  /** The number of token requests by sign-ins and by refreshes. */
  get tokenRequests(): number {
    return this.#tokenRequests
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => {
      this.#server.close(done)
    })
  }
}

function groupsOf(account: string): readonly string[] | undefined {
  const [, kind, count] = /^(many|noise)-(\d+)$/.exec(account) ?? []
  if (account === 'lonely') return undefined
  if (account === 'visitor') return ['visitors']
  if (kind === undefined) return ['platform']
  const group = (n: number) =>
    kind === 'many'
      ? `grp-platform-team-${n}-developers-prod-eu`
      : createHash('sha256').update(String(n)).digest('base64')
  return Array.from({ length: Number(count) }, (_, n) => group(n))
}

function configurationOf(options: SignInOptions) {
  const { callbacks, origins = [], idTokenSeconds = 3600, endsSessions = true } = options
  const client = {
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: [...callbacks],
    post_logout_redirect_uris: origins.map((origin) => `${origin}/auth/signed-out`),
  }
  return {
    clients: [
      { ...client, client_id: 'depot-ui', client_secret: clientSecret },
      { ...client, client_id: 'depot-ui-public', token_endpoint_auth_method: 'none' },
    ],
    scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
    claims: { openid: ['sub'], profile: ['name'], email: ['email'], groups: ['groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { rpInitiatedLogout: { enabled: endsSessions } },
    ttl: { IdToken: idTokenSeconds },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () =>
        Promise.resolve({
          sub: accountId,
          name: `${accountId.slice(0, 1).toUpperCase()}${accountId.slice(1)}`,
          email: `${accountId}@example.com`,
          groups: groupsOf(accountId),
        }),
    }),
  }
}
