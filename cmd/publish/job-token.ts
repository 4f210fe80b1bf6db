import { decodeJwt } from 'jose'
import * as z from 'zod'
import { plainText } from '../../pkg/archives/docs/docs.ts'
import { jsonOf, unavailable } from '../../pkg/base/errors/errors.ts'
import { createPool, proxyRules, readBounded } from '../../pkg/base/http/http.ts'
import { OptionsError, type PublishCommandOptions } from '../../pkg/base/options/options.ts'
import { type GivenToken, tokenInFile } from '../registry/registry.ts'

type Environment = Readonly<Record<string, string | undefined>>

const timeoutMs = 10_000
const maxAnswerBytes = 256 * 1024
const Answer = z.object({ value: z.string().min(1) })

/** An upload of a large file must finish before its token expires. */
const renewMs = 60_000

/**
 * The token of `--token-file`, otherwise that of the CI job that runs this. Undefined without either: then the tokens of
 * the CLIs count.
 *
 * @param host of the registry
 * @throws OptionsError; RegistryError Unavailable if the CI system gives no token
 */
export async function givenToken(
  { tokenFile, idTokenAudience }: Pick<PublishCommandOptions, 'tokenFile' | 'idTokenAudience'>,
  host: string,
  env: Environment = process.env,
): Promise<GivenToken | undefined> {
  if (tokenFile !== undefined) return tokenInFile(tokenFile)
  const job = jobIn(idTokenAudience ?? `https://${host}`, env)
  if (job === undefined) {
    if (idTokenAudience === undefined) return undefined
    throw new OptionsError([
      '--id-token-audience is for jobs of GitHub Actions with the permission "id-token: write", which this is not: leave it out; jobs of GitLab name the audience in id_tokens',
    ])
  }
  let token = await job.request()
  const { sub = 'without a subject' } = claimsIn(token)
  const text = `depot: publishing with the identity of this job of ${job.of}: ${sub}`
  process.stderr.write(`${plainText(text)}\n`)
  return {
    remedy: job.remedy,
    async current() {
      const { exp = Infinity } = claimsIn(token)
      const leftMs = exp * 1000 - Date.now()
      if (leftMs < renewMs) {
        token = await job.request().catch((error: unknown) => {
          if (leftMs <= 0) throw error
          return token
        })
      }
      return token
    },
  }
}

/** Finds the CI job that runs this process, and how it gets its token. */
function jobIn(audience: string, env: Environment) {
  // A person sets this variable of a job for Depot.
  const own = env['DEPOT_ID_TOKEN']?.trim()
  if (own) {
    return {
      of: env['GITLAB_CI'] === undefined ? 'CI' : 'GitLab',
      request: async () => own,
      remedy:
        'the token in DEPOT_ID_TOKEN was given to this job when it began: run the job again if it has expired; if not, have the operator of the registry compare its issuer and audience with --publish-issuers',
    }
  }
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env
  if (!url || !secret) return undefined
  return {
    of: 'GitHub Actions',
    request: () => requested(url, secret, audience),
    remedy: `this job of GitHub Actions sent a token for the audience ${audience}: have the operator of the registry compare it with --publish-issuers, or name the audience of the publish issuer with --id-token-audience`,
  }
}

/** Requests a token for one audience, as the CI system documents it. @throws RegistryError Unavailable */
async function requested(text: string, secret: string, audience: string): Promise<string> {
  const url = URL.parse(text)
  const isHere = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url?.hostname ?? '')
  if (url === null || (url.protocol !== 'https:' && !isHere)) {
    throw new OptionsError(['ACTIONS_ID_TOKEN_REQUEST_URL is not a URL that begins with https://'])
  }
  url.searchParams.set('audience', audience)
  const bounds = { connectMs: timeoutMs, headersMs: timeoutMs, idleMs: timeoutMs }
  const pool = createPool({ ...bounds, proxies: proxyRules(process.env) })
  try {
    const { status, body } = await pool.send(
      { origin: url.origin },
      {
        method: 'GET',
        path: url.pathname + url.search,
        headers: {
          authorization: `Bearer ${secret}`,
          accept: 'application/json',
          'user-agent': 'depot',
        },
      },
    )
    const answer = jsonOf((await readBounded(body, maxAnswerBytes)).toString())
    const token = Answer.safeParse(answer).data?.value
    if (status === 200 && token !== undefined) return token
    throw new Error(`it answered ${status}`)
  } catch (cause) {
    throw unavailable(`GitHub Actions at ${url.origin} gives this job no token`, cause)
  } finally {
    await pool.close()
  }
}

/** Reads when the token expires. Only the registry verifies it. */
function claimsIn(token: string) {
  try {
    return decodeJwt(token)
  } catch {
    throw new OptionsError([
      'DEPOT_ID_TOKEN is not a token: let id_tokens of the job set it, or give the token in --token-file',
    ])
  }
}
