import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { OidcAuthOptions } from './auth.ts'

export interface IssuerKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export async function issuerKey(kid: string, alg = 'RS256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Options for callers of an issuer only. */
export function oidcOptions(
  issuerUrl: string,
  more: Partial<OidcAuthOptions> = {},
): OidcAuthOptions {
  return {
    issuerUrl,
    clientId: 'depot',
    groupsClaim: 'groups',
    scopes: [],
    allowGuests: false,
    allowFallback: false,
    allowClientCredentials: false,
    ...more,
  }
}

/** Keys of issuers that have stopped. The next issuers take them: to make one takes longer than most tests. */
const spareKeys: IssuerKey[] = []

/** A provider that signs any token for a test. */
export class TestIssuer {
  /** Not used by another issuer until this one stops. */
  readonly #firstKey: IssuerKey
  readonly #server: Server
  /** Counts requests. */
  readonly requests = new Map<string, number>()
  key: IssuerKey
  /** The published keys. */
  published: JWK[]
  /** Replaces its metadata. */
  metadata: object | undefined
  #port = 0
  #unreachable = false

  private constructor(key: IssuerKey) {
    this.#firstKey = key
    this.key = { ...key, jwk: { ...key.jwk } }
    this.published = [this.key.jwk]
    this.#server = createServer((request, response) => {
      const { url = '' } = request
      this.requests.set(url, (this.requests.get(url) ?? 0) + 1)
      if (this.#unreachable) {
        request.socket.destroy()
        return
      }
      const document = url.endsWith('/keys')
        ? { keys: this.published }
        : (this.metadata ?? {
            issuer: this.url,
            jwks_uri: `${this.url}/keys`,
            authorization_endpoint: `${this.url}/auth`,
            token_endpoint: `${this.url}/token`,
          })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(document))
    })
  }

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer(spareKeys.pop() ?? (await issuerKey('first')))
    await new Promise<void>((done) => {
      issuer.#server.listen(0, '127.0.0.1', done)
    })
    issuer.#port = (issuer.#server.address() as AddressInfo).port
    return issuer
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/broker`
  }

  get keyFetches(): number {
    return this.requests.get('/broker/keys') ?? 0
  }

  /** Whether it closes all connections. */
  set unreachable(unreachable: boolean) {
    this.#unreachable = unreachable
  }

  /** A token for `alice` of the client `depot`, valid for an hour unless the claims differ. Undefined removes a claim. */
  sign(
    claims: Readonly<Record<string, unknown>> = {},
    { key = this.key, header = {} }: { key?: IssuerKey; header?: object } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const payload = {
      iss: this.url,
      sub: 'alice',
      aud: 'depot',
      iat: now,
      exp: now + 3600,
      groups: ['platform'],
      ...claims,
    }
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.jwk.alg ?? 'RS256', kid: key.kid, typ: 'JWT', ...header })
      .sign(key.privateKey)
  }

  stop(): void {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    this.#server.close()
    spareKeys.push(this.#firstKey)
  }
}

interface Claims {
  readonly repository?: string
  readonly project_path?: string
  readonly ref?: string
  readonly [name: string]: unknown
}

/** Claims in the token of a job of GitHub Actions, as documented in 2026. */
export function githubClaims(claims: Claims = {}): Claims {
  const { repository = 'acme/vpc', ref = 'refs/tags/v1.0.0' } = claims
  return {
    sub: `repo:${repository}:ref:${ref}`,
    aud: 'https://depot.example.com',
    repository,
    repository_id: '74',
    repository_owner: repository.split('/')[0],
    repository_owner_id: '65',
    repository_visibility: 'private',
    ref,
    ref_type: 'tag',
    ref_protected: 'true',
    sha: 'b'.repeat(40),
    actor: 'octocat',
    actor_id: '12',
    event_name: 'push',
    run_id: '4242',
    run_number: '10',
    run_attempt: '2',
    runner_environment: 'github-hosted',
    workflow: 'publish',
    workflow_ref: `${repository}/.github/workflows/publish.yml@${ref}`,
    job_workflow_ref: `${repository}/.github/workflows/publish.yml@${ref}`,
    head_ref: '',
    base_ref: '',
    jti: 'example-id',
    groups: undefined,
    ...claims,
  }
}

/** Claims in an ID token of a job of GitLab, as documented in 2026. */
export function gitlabClaims(claims: Claims = {}): Claims {
  const { project_path: project = 'acme/dns', ref = 'v1.0.0' } = claims
  return {
    sub: `project_path:${project}:ref_type:tag:ref:${ref}`,
    aud: 'https://depot.example.com',
    project_path: project,
    project_id: '22',
    namespace_id: '72',
    namespace_path: project.split('/')[0],
    user_login: 'alex',
    user_id: '1',
    user_identities: [{ provider: 'github', extern_uid: '2' }],
    pipeline_id: '574',
    pipeline_source: 'push',
    job_id: '302',
    ref,
    ref_type: 'tag',
    ref_path: `refs/tags/${ref}`,
    ref_protected: 'true',
    runner_environment: 'gitlab-hosted',
    groups_direct: ['acme', 'acme/network'],
    environment_protected: 'false',
    sha: 'c'.repeat(40),
    jti: 'another-id',
    groups: undefined,
    ...claims,
  }
}
