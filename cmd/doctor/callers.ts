import { messageOf } from '../../pkg/base/errors/errors.ts'
import type { ProxyRules } from '../../pkg/base/http/http.ts'
import type { ServerCommandOptions } from '../../pkg/base/options/options.ts'
import { readTextFile } from '../../pkg/base/run/run.ts'
import { createLogger } from '../../pkg/base/telemetry/telemetry.ts'
import { type PublishIssuer, TokenIssuer } from '../../pkg/registry/auth/auth.ts'
import { publishIssuersIn } from '../access/access.ts'
import { type Examination, failed, ok, warning } from './check.ts'
import { ask, clockFinding } from './reach.ts'

type Issuing = Pick<ServerCommandOptions, 'publishIssuers' | 'oidcIssuerUrl'> &
  Partial<Pick<ServerCommandOptions, 'baseUrl'>>

/** Checks each issuer of CI: its entry, its keys, and the audience of its tokens. */
export async function publishIssuerChecks(
  { publishIssuers: path, oidcIssuerUrl, baseUrl }: Issuing,
  proxies: ProxyRules,
): Promise<Examination[]> {
  if (path === undefined) return []
  const what = `publish issuers of ${path}`
  let entries: readonly PublishIssuer[]
  try {
    entries = publishIssuersIn(await readTextFile(path), path, oidcIssuerUrl)
  } catch (error) {
    const run = () => failed(messageOf(error), 'correct the file of --publish-issuers')
    return [{ what, run }]
  }
  if (entries.length === 0) {
    const none = () =>
      warning('there are none: no job of CI publishes with its own identity', 'add an entry')
    return [{ what, run: none }]
  }
  return entries.map(({ alias, issuer: issuerUrl, audience }) => ({
    what: `publish issuer ${alias}`,
    async run() {
      const { keys, lastError } = await lookAt({ issuerUrl, proxies })
      if (lastError !== undefined) {
        const reach = 'check DNS, network policies and HTTPS_PROXY of the pod'
        return failed(lastError, `correct issuer in ${path}, or ${reach}`)
      }
      if (keys === 0) return failed('it has no keys', `correct issuer in ${path}`)
      const told = `its ${keys} keys can be fetched`
      const own = baseUrl === undefined ? undefined : new URL(baseUrl).origin
      return own === undefined || audience === own
        ? ok(`${told}; its tokens must be for ${audience}`)
        : warning(
            `${told}, but its tokens must be for ${audience}, and depot publish in GitHub Actions requests them for ${own}`,
            `set audience to ${own}, or have each job request ${audience}: with --id-token-audience, or with aud of id_tokens`,
          )
    },
  }))
}

async function lookAt(
  issuer: Pick<ConstructorParameters<typeof TokenIssuer>[0], 'issuerUrl' | 'reachedAt' | 'proxies'>,
) {
  const log = createLogger('silent')
  const looking = new TokenIssuer({ ...issuer, log, clock: Date.now })
  try {
    await looking.lookAgain()
    const { lastError, keys, metadata } = looking
    return { lastError, metadata, keys: keys?.jwks().keys.length ?? 0 }
  } finally {
    await looking.close()
  }
}

/** Checks the issuer of tokens: its keys, its endpoints for logins, and its clock. */
export function callerChecks(options: ServerCommandOptions, proxies: ProxyRules): Examination[] {
  const { oidcIssuerUrl: issuerUrl, brokerProxyUrl: reachedAt } = options
  if (issuerUrl === undefined) return []
  const remedy =
    'correct --oidc-issuer-url, or check DNS, network policies and HTTPS_PROXY of the pod; NODE_EXTRA_CA_CERTS names a private authority'
  const issuerCheck: Examination = {
    what: `issuer ${issuerUrl}`,
    remedy,
    async run() {
      const { lastError, keys, metadata } = await lookAt({ issuerUrl, reachedAt, proxies })
      if (lastError !== undefined) return failed(lastError, remedy)
      const told = `its ${keys} keys can be fetched`
      const hasLogin =
        (options.oidcAuthzUrl ?? metadata?.authorization_endpoint) !== undefined &&
        (options.oidcTokenUrl ?? metadata?.token_endpoint) !== undefined
      return hasLogin
        ? ok(told)
        : warning(
            `${told}, but it names no endpoints for terraform login`,
            'set --oidc-authz-url and --oidc-token-url',
          )
    },
  }
  const clock: Examination = {
    what: 'clock',
    remedy,
    async run() {
      const url = new URL(issuerUrl)
      const address = reachedAt === undefined ? issuerUrl : new URL(url.pathname, reachedAt).href
      const { aheadSeconds } = await ask(address, { proxies })
      return clockFinding('the issuer', aheadSeconds)
    },
  }
  return [issuerCheck, clock]
}
