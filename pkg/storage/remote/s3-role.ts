import { readFile } from 'node:fs/promises'
import { IamAwsProvider } from 'minio'
import { messageOf } from '../../errors/errors.ts'
import { createPool, discard, isTimeout, readBounded } from '../../http/http.ts'
import type { Clock } from '../../pacing/pacing.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Credentials = Awaited<ReturnType<IamAwsProvider['getCredentials']>>

/** Before they expire, credentials are fetched again: what they sign lives for a while. A quarter of a short life. */
const maxMarginMs = 5 * 60_000
/** After a failure, while what was fetched before is still valid. */
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
    // The library keeps these, until ten seconds before they expire.
    if (this.#env['AWS_WEB_IDENTITY_TOKEN_FILE']) return super.getCredentials()
    try {
      const keys = new Keys(await fetchCredentials(this.#env, this.#ask))
      this.#keys = keys
      this.#dueMs = keys.expiresMs - Math.min(maxMarginMs, (keys.expiresMs - this.#clock()) / 4)
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

/** @throws Error that names the address, never what it answered */
async function fetchCredentials(env: Environment, ask: Ask): Promise<RoleAnswer> {
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
  const token = (await readFile(file, 'utf8')).trim()
  if (/[\r\n]/.test(token))
    throw new Error(`${file} holds more than one line, and should hold a token`)
  return token
}

/** @returns what was answered */
type Ask = (method: 'GET' | 'PUT', url: URL, headers: Record<string, string>) => Promise<string>

/** Goes direct, past every proxy: these addresses mean this machine or pod, and at a proxy they would mean the proxy's. */
function createAsk(deadlineMs: number): Ask {
  const pool = createPool({
    connectMs: deadlineMs,
    headersMs: deadlineMs,
    idleMs: deadlineMs,
    totalMs: deadlineMs,
  })

  async function exchange(...[method, { origin, pathname, search }, headers]: Parameters<Ask>) {
    const { status, body } = await pool.send(
      { origin },
      { method, path: pathname + search, headers },
    )
    if (status === 200) return { status, text: String(await readBounded(body, maxAnswerBytes)) }
    discard(body)
    return { status, text: '' }
  }

  return async (method, url, headers) => {
    const { status, text } = await exchange(method, url, headers).catch((thrown: unknown) => {
      const why = isTimeout(thrown) ? `no answer within ${deadlineMs} ms` : messageOf(thrown)
      throw new Error(`${url.href} gave no credentials of a role: ${why}`, { cause: thrown })
    })
    if (status === 200) return text
    throw new Error(`${url.href} answered ${status} when asked for the credentials of a role`)
  }
}

function parsed(text: string, url: URL): RoleAnswer {
  const answer = jsonIn(text)
  const names = ['AccessKeyId', 'SecretAccessKey', 'Token', 'Expiration'] as const
  const isComplete =
    typeof answer === 'object' &&
    answer !== null &&
    names.every((name) => typeof (answer as Record<string, unknown>)[name] === 'string')
  if (isComplete) return answer as RoleAnswer
  throw new Error(`${url.href} gave no credentials of a role: ${names.join(', ')} are expected`)
}

/** Undefined where it is none: what the platform would say of it quotes the text. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
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
