import { readFile } from 'node:fs/promises'
import { XMLParser } from 'fast-xml-parser'
import { IamAwsProvider } from 'minio'
import { messageOf } from '../../errors/errors.ts'
import { createPool, isTimeout, readBounded } from '../../http/http.ts'
import type { Clock } from '../../pacing/pacing.ts'

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
  readonly #ask: Ask
  readonly #clock: Clock
  #fetching: Promise<Credentials> | undefined
  #keys: Keys | undefined
  /** When the keys are to be fetched again. */
  #dueMs = 0

  constructor(env: Environment, deadlineMs: number, clock: Clock) {
    super({})
    this.#env = env
    this.#ask = createAsk(deadlineMs)
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
      const keys = new Keys(await fetchCredentials(this.#env, this.#ask))
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

/** @throws Error that names the address, and of what it answered the status and a code alone */
async function fetchCredentials(env: Environment, ask: Ask): Promise<RoleAnswer> {
  const tokenFile = env['AWS_WEB_IDENTITY_TOKEN_FILE']
  if (tokenFile) return assumeRole(env, await oneLineOf(tokenFile), ask)
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
async function assumeRole(env: Environment, token: string, ask: Ask): Promise<RoleAnswer> {
  const region = env['AWS_REGION']
  const domain = region?.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const regional = `https://sts.${region ? `${region}.` : ''}${domain}`
  const url = new URL(env['AWS_ENDPOINT_URL_STS'] || regional)
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: env['AWS_ROLE_ARN'] ?? '',
    RoleSessionName: env['AWS_ROLE_SESSION_NAME'] || `depot-${Date.now()}`,
    WebIdentityToken: token,
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
  const full = env['AWS_CONTAINER_CREDENTIALS_FULL_URI']
  if (!full) return undefined
  const url = new URL(full)
  const local = /^(?:localhost|127\.[\d.]+|\[::1\]|169\.254\.170\.(?:2|23)|\[fd00:ec2::23\])$/
  if (url.protocol === 'https:' || local.test(url.hostname)) return url
  throw new Error(
    'AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or an address of this machine or of the agent',
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
  body?: string,
) => Promise<string>

/** Goes direct, past every proxy: these addresses mean this machine or pod, and at a proxy they would mean the proxy's. */
function createAsk(deadlineMs: number): Ask {
  const pool = createPool({
    connectMs: deadlineMs,
    headersMs: deadlineMs,
    idleMs: deadlineMs,
    totalMs: deadlineMs,
  })

  return async (method, url, headers, sent) => {
    const { origin, pathname, search, href } = url
    let refusal: string
    try {
      const request = { method, path: pathname + search, headers, body: sent ?? null }
      const { status, body } = await pool.send({ origin }, request)
      const text = String(await readBounded(body, maxAnswerBytes))
      if (status === 200) return text
      // STS says what is wrong with the role by it, and no secret fits there.
      const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1]
      refusal = code === undefined ? String(status) : `${status} (${code})`
    } catch (thrown) {
      const why = isTimeout(thrown) ? `no answer within ${deadlineMs} ms` : messageOf(thrown)
      throw new Error(`${href} gave no credentials of a role: ${why}`, { cause: thrown })
    }
    throw new Error(`${href} answered ${refusal} when asked for the credentials of a role`)
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
  throw new Error(`${url.href} gave no credentials of a role: ${names.join(', ')} are expected`)
}

/** Undefined where it cannot be read: what a parser would say of it quotes the text. */
function valueIn(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** @param deadlineMs of one answer; default: 5 s */
export const createRole = (
  env: Environment,
  deadlineMs = answerMs,
  clock: Clock = Date.now,
): IamAwsProvider => new Role(env, deadlineMs, clock)
