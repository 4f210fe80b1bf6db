import { readFile } from 'node:fs/promises'
import { XMLParser } from 'fast-xml-parser'
import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt, jsonOf, messageOf } from '../../../base/errors/errors.ts'
import { createPool, isTimeout, type ProxyRules, readBounded } from '../../../base/http/http.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import { answerOf } from './remote-error.ts'
import { awsDomainOf, type S3Credentials } from './s3-signing.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface RoleCredentials extends S3Credentials {
  readonly expiresMs: number
}

export interface RoleOptions {
  /** Deadline of one answer. Default: 5 s. */
  readonly deadlineMs?: number
  /** Default: Date.now. */
  readonly clock?: Clock
  /** For requests to STS. */
  readonly proxies?: ProxyRules | undefined
}

/** Credentials are fetched again this long before they expire, or after three quarters of a short life. */
const maxMarginMs = 5 * 60_000
/** Wait after a failure, or after the same keys again, while the previous keys are valid. */
const retryMs = 5000
/** Deadline of one answer, from the connection to its last byte. */
const answerMs = 5000
/** Limit of an answer. Credentials take two kilobytes. */
const maxAnswerBytes = 64 * 1024
const instanceUrl = 'http://169.254.169.254'

/**
 * The credentials of the role of this machine or pod: web identity of EKS (IRSA), the agent of EKS Pod Identity, ECS or EC2.
 * They are fetched once for all waiting requests, and again before they expire. If that fails, the previous ones are used
 * until they expire.
 */
export function createRole(
  env: Environment,
  { deadlineMs = answerMs, clock = Date.now, proxies }: RoleOptions = {},
): () => Promise<S3Credentials> {
  // All addresses except that of STS are on this machine or pod. A proxy would return its own credentials.
  const agent = createAsk(deadlineMs)
  const sts = createAsk(deadlineMs, proxies)
  let keys: RoleCredentials | undefined
  let fetching: Promise<RoleCredentials> | undefined
  let dueMs = 0
  const validKeys = () => (keys !== undefined && clock() < keys.expiresMs ? keys : undefined)

  async function fetchKeys(): Promise<RoleCredentials> {
    try {
      const fetched = await fetchCredentials(env, agent, sts)
      const marginMs = Math.min(maxMarginMs, (fetched.expiresMs - clock()) / 4)
      const areNew = fetched.expiresMs !== keys?.expiresMs
      dueMs = areNew ? fetched.expiresMs - marginMs : clock() + retryMs
      keys = fetched
      return fetched
    } catch (error) {
      const valid = validKeys()
      if (valid === undefined) throw error
      dueMs = clock() + retryMs
      return valid
    }
  }

  return async () => {
    const valid = validKeys()
    if (valid !== undefined && clock() < dueMs) return valid
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined
    })
    if (valid === undefined) return fetching
    // No request waits for new keys while the previous ones are valid. After they expire, requests get the error.
    fetching.catch(() => {})
    return valid
  }
}

/** @throws Error that names the address, and only status and code of its answer */
async function fetchCredentials(env: Environment, agent: Ask, sts: Ask): Promise<RoleCredentials> {
  const tokenFile = env['AWS_WEB_IDENTITY_TOKEN_FILE']
  const answer = await (tokenFile ? assumeRole(env, tokenFile, sts) : askAgent(env, agent))
  return {
    accessKeyId: answer.AccessKeyId,
    secretAccessKey: answer.SecretAccessKey,
    sessionToken: answer.Token,
    expiresMs: Date.parse(answer.Expiration),
  }
}

const names = ['AccessKeyId', 'SecretAccessKey', 'Token', 'Expiration'] as const
type RoleAnswer = Readonly<Record<(typeof names)[number], string>>

/** Asks the agent of a container, or that of EC2. */
async function askAgent(env: Environment, ask: Ask): Promise<RoleAnswer> {
  const container = containerUrl(env)
  if (container !== undefined) {
    const token = await containerToken(env)
    const headers: Record<string, string> = token === undefined ? {} : { authorization: token }
    return checked(jsonOf(await ask('GET', container, headers)), container)
  }
  const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }
  const session = await ask('PUT', new URL('/latest/api/token', instanceUrl), lifetime)
  const headers = { 'x-aws-ec2-metadata-token': session }
  const roles = new URL('/latest/meta-data/iam/security-credentials/', instanceUrl)
  const [role = ''] = (await ask('GET', roles, headers)).split('\n')
  const url = new URL(encodeURIComponent(role.trim()), roles)
  return checked(jsonOf(await ask('GET', url, headers)), url)
}

const xml = new XMLParser({ parseTagValue: false })

/** Web identity: STS exchanges a token that the cluster signed for keys. */
async function assumeRole(env: Environment, tokenFile: string, ask: Ask): Promise<RoleAnswer> {
  const { AWS_ROLE_ARN: role, AWS_REGION: region } = env
  if (!role) throw new Error('AWS_ROLE_ARN must name the role for AWS_WEB_IDENTITY_TOKEN_FILE')
  const domain = region ? `${region}.${awsDomainOf(region)}` : 'amazonaws.com'
  const url = safeUrl(env, 'AWS_ENDPOINT_URL_STS') ?? new URL(`https://sts.${domain}`)
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: env['AWS_ROLE_SESSION_NAME'] || `depot-${Date.now()}`,
    WebIdentityToken: await oneLineOf(tokenFile),
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const text = await ask('POST', url, headers, String(form))
  const given = attempt(
    () =>
      xml.parse(text).AssumeRoleWithWebIdentityResponse.AssumeRoleWithWebIdentityResult.Credentials,
  ) as Record<string, unknown> | undefined
  return checked({ ...given, Token: given?.['SessionToken'] }, url)
}

/** The URL where a container gets credentials; undefined if none is configured. */
function containerUrl(env: Environment): URL | undefined {
  const relative = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']
  if (relative) return new URL(relative, 'http://169.254.170.2')
  return safeUrl(env, 'AWS_CONTAINER_CREDENTIALS_FULL_URI')
}

const local = /^(?:localhost|127\.[\d.]+|\[::1\]|169\.254\.170\.(?:2|23)|\[fd00:ec2::23\])$/

/** A URL that may get a token and give keys; undefined if the variable is not set. */
function safeUrl(env: Environment, variable: string): URL | undefined {
  const text = env[variable]
  if (!text) return undefined
  const url = URL.parse(text)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && local.test(url.hostname)))
    return url
  throw new Error(
    `${variable} must be https, or http at an address of this machine or of the agent`,
  )
}

/** EKS Pod Identity keeps the token in a file and renews it there. */
async function containerToken(env: Environment): Promise<string | undefined> {
  const file = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']
  if (!file) return env['AWS_CONTAINER_AUTHORIZATION_TOKEN']
  return oneLineOf(file)
}

async function oneLineOf(file: string): Promise<string> {
  const token = (await readFile(file, 'utf8')).trim()
  if (/[\r\n]/.test(token))
    throw new Error(`${file} has more than one line: write only the token into it`)
  return token
}

/** @returns the body of the answer */
type Ask = (
  method: 'GET' | 'PUT' | 'POST',
  url: URL,
  headers: Record<string, string>,
  form?: string,
) => Promise<string>

/** @param proxies default: none, every request goes direct */
function createAsk(deadlineMs: number, proxies?: ProxyRules): Ask {
  const pool = createPool({
    connectMs: deadlineMs,
    headersMs: deadlineMs,
    idleMs: deadlineMs,
    totalMs: deadlineMs,
    proxies,
  })

  return async (method, url, headers, form) => {
    const { origin, pathname, search } = url
    const where = origin + pathname
    let refusal: string
    try {
      const request = { method, path: pathname + search, headers, body: form ?? null }
      const answer = await pool.send({ origin }, request)
      if (answer.status === 200) return String(await readBounded(answer.body, maxAnswerBytes))
      const { code } = await answerOf(answer)
      refusal = code === '' ? String(answer.status) : `${answer.status} (${code})`
    } catch (thrown) {
      const why = isTimeout(thrown) ? `no answer within ${deadlineMs} ms` : messageOf(thrown)
      throw new Error(`${where} gave no credentials of a role: ${why}`, { cause: thrown })
    }
    throw new Error(`${where} answered ${refusal} when asked for the credentials of a role`)
  }
}

function checked(answer: unknown, url: URL): RoleAnswer {
  const isComplete = isRecord(answer) && names.every((name) => typeof answer[name] === 'string')
  if (isComplete) return answer as RoleAnswer
  throw new Error(
    `${url.origin}${url.pathname} gave no credentials of a role: ${names.join(', ')} are expected`,
  )
}
