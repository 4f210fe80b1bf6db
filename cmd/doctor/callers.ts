import type { ProxyRules } from '../../pkg/base/http/http.ts'
import type { ServerCommandOptions } from '../../pkg/base/options/options.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { TokenIssuer } from '../../pkg/registry/auth/auth.ts'
import { type Examination, failed, ok, warning } from './check.ts'
import { ask, clockFinding } from './reach.ts'

/** Checks the issuer of tokens: its keys, its endpoints for logins, and its clock. */
export function callerChecks(options: ServerCommandOptions, proxies: ProxyRules): Examination[] {
  const { oidcIssuerUrl: issuerUrl, brokerProxyUrl: reachedAt } = options
  if (issuerUrl === undefined) return []
  const remedy =
    'correct --oidc-issuer-url, or let the pod reach it: DNS, network policies, HTTPS_PROXY; NODE_EXTRA_CA_CERTS names a private authority'
  const issuerCheck: Examination = {
    what: `issuer ${issuerUrl}`,
    remedy,
    async run() {
      const log = createLogger('silent')
      const metrics = createMetrics({ version: '' })
      const shared = { log, metrics, clock: Date.now }
      const issuer = new TokenIssuer({ issuerUrl, reachedAt, proxies, ...shared })
      try {
        await issuer.lookAgain()
        const { lastError, keys, metadata } = issuer
        if (lastError !== undefined) return failed(lastError, remedy)
        const told = `its ${keys?.jwks().keys.length ?? 0} keys can be fetched`
        const hasLogin =
          (options.oidcAuthzUrl ?? metadata?.authorization_endpoint) !== undefined &&
          (options.oidcTokenUrl ?? metadata?.token_endpoint) !== undefined
        return hasLogin
          ? ok(told)
          : warning(
              `${told}, but it names no endpoints for terraform login`,
              'set --oidc-authz-url and --oidc-token-url',
            )
      } finally {
        await issuer.close()
      }
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
