import { createPrivateKey } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { ClusterCredentials } from './kubeconfig.ts'
import { Refusal } from './refusal.ts'

/** Where the API server of the server's own cluster is, and whom to trust there; nothing that lets anybody in. */
export interface ClusterAddress {
  /** Without a trailing slash; it may have a path. */
  readonly server: string
  /** PEM. */
  readonly ca: string | undefined
  readonly servername?: string | undefined
  readonly rejectUnauthorized?: boolean | undefined
  /** http or https. */
  readonly proxyUrl?: string | undefined
}

/** What the API server said. */
export interface Reading {
  readonly status: number
  /** Its own words where it refused. */
  readonly message: string
}

const timeoutMs = 5000
const connections = 32
const maxStatusBytes = 64 * 1024
/** The answer itself is not wanted, so the shortest form of it will do; the cluster has one for objects, one for lists. */
const acceptOf = (path: string): string => {
  const kind = path.includes('?limit=') ? 'PartialObjectMetadataList' : 'PartialObjectMetadata'
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
}

/** Reads in the name of callers, with their credentials and none of the server's. */
export class CallerReads {
  readonly #address: () => Promise<ClusterAddress>
  #shared: { readonly dispatcher: Dispatcher; readonly for: ClusterAddress } | undefined

  constructor(address: () => Promise<ClusterAddress>) {
    this.#address = address
  }

  /**
   * Asks for each of these paths.
   *
   * @throws Refusal `cluster_away` where the API server cannot be reached, `kubeconfig` where a certificate is of no use
   */
  async read(
    credentials: ClusterCredentials,
    paths: readonly string[],
  ): Promise<readonly Reading[]> {
    const address = await this.#address()
    if (credentials.cert === undefined) {
      const dispatcher = this.#pool(address)
      return await Promise.all(paths.map((path) => send(dispatcher, address, credentials, path)))
    }
    // A connection is of the one whose certificate opened it, so it ends with the question.
    const dispatcher = openWithCertificate(address, credentials)
    try {
      return await Promise.all(paths.map((path) => send(dispatcher, address, credentials, path)))
    } finally {
      await dispatcher.destroy()
    }
  }

  async close(): Promise<void> {
    await this.#shared?.dispatcher.destroy()
  }

  /** Made again when the address or the authority has changed. */
  #pool(address: ClusterAddress): Dispatcher {
    if (this.#shared !== undefined && isDeepStrictEqual(this.#shared.for, address)) {
      return this.#shared.dispatcher
    }
    void this.#shared?.dispatcher.close().catch(() => undefined)
    this.#shared = { dispatcher: open(address, {}), for: address }
    return this.#shared.dispatcher
  }
}

const maxRsaBits = 4096

function openWithCertificate(
  address: ClusterAddress,
  { cert, key }: ClusterCredentials,
): Dispatcher {
  try {
    // The signature of the handshake is made on this thread, and takes a second with a key of four times that length.
    const bits = key && createPrivateKey(key).asymmetricKeyDetails?.modulusLength
    if (bits && bits > maxRsaBits) throw new TypeError('the key is too long')
    return open(address, { ...(cert && { cert }), ...(key && { key }) })
  } catch {
    // What OpenSSL says may quote from the key.
    throw new Refusal(
      'kubeconfig',
      'the kubeconfig is refused: its client certificate and key cannot be read, or do not belong together',
    )
  }
}

function open(
  { ca, servername, rejectUnauthorized, proxyUrl }: ClusterAddress,
  own: { readonly cert?: string; readonly key?: string },
): Dispatcher {
  const tls = {
    secureContext: createSecureContext({ ...(ca !== undefined && { ca }), ...own }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    allowH2: false,
  }
  const bounds = { allowH2: false, connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  return proxyUrl === undefined
    ? new Agent({ ...bounds, connect: { timeout: timeoutMs, ...tls } })
    : new ProxyAgent({ ...bounds, uri: proxyUrl, requestTls: tls, connect: { timeout: timeoutMs } })
}

async function send(
  dispatcher: Dispatcher,
  { server }: ClusterAddress,
  { token }: ClusterCredentials,
  path: string,
): Promise<Reading> {
  const { origin, pathname } = new URL(server)
  try {
    const response = await dispatcher.request({
      method: 'GET',
      origin,
      path: `${pathname === '/' ? '' : pathname}${path}`,
      headers: {
        accept: acceptOf(path),
        'user-agent': 'depot',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { statusCode: status, body } = response
    if (status >= 400) return { status, message: await messageIn(body) }
    await body.dump({ limit: maxStatusBytes }).catch(() => undefined)
    return { status, message: '' }
  } catch (cause) {
    throw new Refusal(
      'cluster_away',
      'the cluster that has to decide about this cannot be reached: try again in a moment',
      { cause },
    )
  }
}

/** The message of a metav1.Status. */
async function messageIn(body: Dispatcher.ResponseData['body']): Promise<string> {
  let text = ''
  for await (const chunk of body) {
    text += String(chunk)
    if (text.length > maxStatusBytes) break
  }
  body.on('error', () => undefined).destroy()
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message.slice(0, 1000) : ''
  } catch {
    return ''
  }
}
