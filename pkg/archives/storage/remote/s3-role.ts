import { readFile } from 'node:fs/promises'
import { XMLParser } from 'fast-xml-parser'
import { IamAwsProvider } from 'minio'
import { messageOf } from '../../../base/errors/errors.ts'
import { createPool, isTimeout, type ProxyRules, readBounded } from '../../../base/http/http.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import { awsDomainOf } from './aws-domain.ts'
import { errorCodeOf } from './remote-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Credentials = Awaited<ReturnType<IamAwsProvider['getCredentials']>>

/** Before they expire, credentials are fetched again: what they sign lives for a while. A quarter of a short life. */
const maxMarginMs = 5 * 60_000
/** After a failure, or the same keys again, while what was fetched before is still valid. */
const retryMs = 5000
/** Of one answer, from the connection to its last byte. */
const answerMs = 5000
/** Credentials take two kilobytes. */
const maxAnswerBytes = 64 * 1024
const instanceUrl = 'http://169.254.169.254'

/**
 * The credentials of a role, from wherever this machine or pod has them: web identity of EKS (IRSA), the agent of EKS Pod
 * Identity, ECS, EC2. They are fetched once for however many requests need them, and again before they expire. Where that
 * fails, those that are there serve until they have expired.
 */
class Role extends IamAwsProvider {
  readonly #env: Environment
  readonly #agent: Ask
  readonly #sts: Ask
  readonly #clock: Clock
  #fetching: Promise<Credentials> | undefined
  #keys: Keys | undefined
  /** When the keys are to be fetched again. */
  #dueMs = 0

  constructor(env: Environment, { deadlineMs = answerMs, clock = Date.now, proxies }: RoleOptions) {
    // Nothing of it is used: the client of the library takes no other class.
    super({})
    this.#env = env
    // The other addresses mean this machine or pod, and at a proxy they would mean the proxy's.
    this.#agent = createAsk(deadlineMs)
    this.#sts = createAsk(deadlineMs, proxies)
    this.#clock = clock
  }

  override getCredentials(): Promise<Credentials> {
    const nowMs = this.#clock()
    const valid = this.#keys !== undefined && nowMs < this.#keys.expiresMs ? this.#keys : undefined
    if (valid !== undefined && nowMs < this.#dueMs) return Promise.resolve(valid)
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined
    })
    if (valid === undefined) return this.#fetching
    // No request waits for new keys while the old ones are valid; whoever comes after those is told what went wrong.
    this.#fetching.catch(() => {})
    return Promise.resolve(valid)
  }

  async #fetch(): Promise<Credentials> {
    try {
      const keys = new Keys(await this.#fetchCredentials())
      const marginMs = Math.min(maxMarginMs, (keys.expiresMs - this.#clock()) / 4)
      const areNew = keys.expiresMs !== this.#keys?.expiresMs
      this.#dueMs = areNew ? keys.expiresMs - marginMs : this.#clock() + retryMs
      this.#keys = keys
      return keys
    } catch (error) {
      const nowMs = this.#clock()
      if (this.#keys === undefined || !(nowMs < this.#keys.expiresMs)) throw error
      this.#dueMs = nowMs + retryMs
      return this.#keys
    }
  }

  /** @throws Error that names the address, and of what it answered the status and a code alone */
  #fetchCredentials(): Promise<RoleAnswer> {
    const tokenFile = this.#env['AWS_WEB_IDENTITY_TOKEN_FILE']
    if (tokenFile) return assumeRole(this.#env, tokenFile, this.#sts)
    return askAgent(this.#env, this.#agent)
  }
}

/** The library has such a class, which it keeps for itself. */
class Keys implements Credentials {
  accessKey: string
  secretKey: string
  sessionToken: string
  readonly expiresMs: number

  constructor({ AccessKeyId, SecretAccessKey, Token, Expiration }: RoleAnswer) {
    this.accessKey = AccessKeyId
    this.secretKey = SecretAccessKey
    this.sessionToken = Token
    this.expiresMs = Date.parse(Expiration)
  }

  getAccessKey = (): string => this.accessKey
  getSecretKey = (): string => this.secretKey
  getSessionToken = (): string => this.sessionToken
  get = (): this => this

  setAccessKey(accessKey: string): void {
    this.accessKey = accessKey
  }

  setSecretKey(secretKey: string): void {
    this.secretKey = secretKey
  }

  setSessionToken(sessionToken: string): void {
    this.sessionToken = sessionToken
  }
}

interface RoleAnswer {
  readonly AccessKeyId: string
  readonly SecretAccessKey: string
  readonly Token: string
  readonly Expiration: string
}

/** The agent of a container, or of EC2. */
async function askAgent(env: Environment, ask: Ask): Promise<RoleAnswer> {
  const container = containerUrl(env)
  if (container !== undefined) {
    const token = await containerToken(env)
    const headers: Record<string, string> = token === undefined ? {} : { authorization: token }
    return parsed(await ask('GET', container, headers), container)
  }
  const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }
  const session = await ask('PUT', new URL('/latest/api/token', instanceUrl), lifetime)
  const headers = { 'x-aws-ec2-metadata-token': session }
  const roles = new URL('/latest/meta-data/iam/security-credentials/', instanceUrl)
  const [role = ''] = (await ask('GET', roles, headers)).split('\n')
  const url = new URL(encodeURIComponent(role.trim()), roles)
  return parsed(await ask('GET', url, headers), url)
}

const xml = new XMLParser({ parseTagValue: false })

/** Web identity: STS gives keys for a token that the cluster has signed. */
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
  const given = valueIn(
    () =>
      xml.parse(text).AssumeRoleWithWebIdentityResponse.AssumeRoleWithWebIdentityResult.Credentials,
  ) as Record<string, unknown> | undefined
  return checked({ ...given, Token: given?.['SessionToken'] }, url)
}

/** Where a container asks; nothing where no such place is configured. */
function containerUrl(env: Environment): URL | undefined {
  const relative = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']
  if (relative) return new URL(relative, 'http://169.254.170.2')
  return safeUrl(env, 'AWS_CONTAINER_CREDENTIALS_FULL_URI')
}

const local = /^(?:localhost|127\.[\d.]+|\[::1\]|169\.254\.170\.(?:2|23)|\[fd00:ec2::23\])$/

/** Where a token may be sent to, and keys come from; nothing where the variable is not set. */
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

/** EKS Pod Identity puts the token into a file, and renews it there. */
async function containerToken(env: Environment): Promise<string | undefined> {
  const file = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']
  if (!file) return env['AWS_CONTAINER_AUTHORIZATION_TOKEN']
  return oneLineOf(file)
}

async function oneLineOf(file: string): Promise<string> {
  const token = (await readFile(file, 'utf8')).trim()
  if (/[\r\n]/.test(token))
    throw new Error(`${file} holds more than one line, and should hold a token`)
  return token
}

/** @returns what was answered */
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
      const code = await errorCodeOf(answer)
      refusal = code === '' ? String(answer.status) : `${answer.status} (${code})`
    } catch (thrown) {
      const why = isTimeout(thrown) ? `no answer within ${deadlineMs} ms` : messageOf(thrown)
      throw new Error(`${where} gave no credentials of a role: ${why}`, { cause: thrown })
    }
    throw new Error(`${where} answered ${refusal} when asked for the credentials of a role`)
  }
}

const parsed = (text: string, url: URL): RoleAnswer =>
  checked(
    valueIn(() => JSON.parse(text)),
    url,
  )

function checked(answer: unknown, url: URL): RoleAnswer {
  const names = ['AccessKeyId', 'SecretAccessKey', 'Token', 'Expiration'] as const
  const isComplete =
    typeof answer === 'object' &&
    answer !== null &&
    names.every((name) => typeof (answer as Record<string, unknown>)[name] === 'string')
  if (isComplete) return answer as RoleAnswer
  throw new Error(
    `${url.origin}${url.pathname} gave no credentials of a role: ${names.join(', ')} are expected`,
  )
}

/** Undefined where it cannot be read: what a parser would say of it quotes the text. */
function valueIn(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}

export interface RoleOptions {
  /** Of one answer. Default: 5 s. */
  readonly deadlineMs?: number
  /** Default: Date.now. */
  readonly clock?: Clock
  /** To STS. */
  readonly proxies?: ProxyRules | undefined
}

export const createRole = (env: Environment, options: RoleOptions = {}): IamAwsProvider =>
  new Role(env, options)
