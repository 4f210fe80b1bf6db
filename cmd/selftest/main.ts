// Checks an installed registry from inside the cluster; `helm test` runs it. Prints a line for each check and exits with 1
// if one failed.

import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { parseArgs } from 'node:util'

const account = '/var/run/secrets/kubernetes.io/serviceaccount'
const timeoutMs = 10_000

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'admin-url': { type: 'string' },
    'valkey-addr': { type: 'string' },
    'api-group': { type: 'string', default: 'depot.internal' },
    'ca-path': { type: 'string' },
  },
})

interface Answer {
  readonly status: number
  readonly body: string
}

/** Sends a GET over HTTPS with a custom certificate authority, which fetch does not support. */
function getSecurely(
  url: string,
  { ca, token }: { readonly ca?: Buffer | undefined; readonly token?: string },
): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  request(url, { ca, headers, timeout: timeoutMs }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
    })
  })
    .on('timeout', () => reject(new Error(`${url} did not answer within ${timeoutMs / 1000} s`)))
    .on('error', reject)
    .end()
  return promise
}

async function get(url: string): Promise<Answer> {
  const ca = flags['ca-path'] === undefined ? undefined : readFileSync(flags['ca-path'])
  if (url.startsWith('https:')) return getSecurely(url, { ca })
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  return { status: response.status, body: await response.text() }
}

async function discovery(url: string): Promise<string> {
  const { status, body } = await get(`${url}/.well-known/terraform.json`)
  if (status !== 200) throw new Error(`answered ${status}, expected 200: ${body}`)
  const document: unknown = JSON.parse(body)
  if (!(document instanceof Object) || !('modules.v1' in document)) {
    throw new Error(`does not name a module registry: ${body}`)
  }
  return 'names the module registry'
}

async function readiness(url: string): Promise<string> {
  const { status, body } = await get(`${url}/readyz`)
  if (status !== 200) throw new Error(`answered ${status}, expected 200: ${body}`)
  return 'is ready'
}

async function definitions(group: string): Promise<string> {
  if (!existsSync(`${account}/token`)) throw new Error('no service account token is mounted')
  const { status, body } = await getSecurely(
    `https://kubernetes.default.svc/apis/${group}/v1alpha1`,
    {
      ca: readFileSync(`${account}/ca.crt`),
      token: readFileSync(`${account}/token`, 'utf8'),
    },
  )
  if (status !== 200) throw new Error(`answered ${status}, expected 200: ${body}`)
  const served = ['modules', 'providers', 'versions', 'depots', 'groupbindings']
  const missing = served.filter((name) => !body.includes(`"name":"${name}"`))
  if (missing.length > 0) throw new Error(`does not serve ${missing.join(', ')}`)
  return `serves ${served.join(', ')}`
}

function ping(address: string): Promise<string> {
  const separator = address.lastIndexOf(':')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(Number(address.slice(separator + 1)), address.slice(0, separator))
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('did not answer in time')))
  socket.on('error', reject)
  socket.on('data', (data) => {
    socket.end()
    const answer = data.toString().trim()
    // A Valkey that asks for a password is reachable too; only the server has the password.
    if (answer === '+PONG' || answer.startsWith('-NOAUTH')) resolve('answers PING')
    else reject(new Error(`answered ${answer}, expected +PONG`))
  })
  socket.write('PING\r\n')
  return promise
}

/** Errors of fetch have the reason in their cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.cause instanceof Error
    ? `${thrown.message}: ${thrown.cause.message}`
    : thrown.message
}

const [url] = positionals
if (url === undefined) {
  process.stderr.write(
    'usage: selftest URL [--admin-url URL] [--valkey-addr HOST:PORT] [--api-group GROUP]\n',
  )
  process.exit(2)
}

const checks: readonly (readonly [what: string, check: () => Promise<string>])[] = [
  [`discovery at ${url}`, () => discovery(url)],
  ...(flags['admin-url'] === undefined
    ? []
    : [[`server at ${flags['admin-url']}`, () => readiness(flags['admin-url'] ?? '')] as const]),
  [`API server, group ${flags['api-group']},`, () => definitions(flags['api-group'])],
  ...(flags['valkey-addr'] === undefined
    ? []
    : [[`Valkey at ${flags['valkey-addr']}`, () => ping(flags['valkey-addr'] ?? '')] as const]),
]

for (const [what, check] of checks) {
  try {
    process.stdout.write(`ok      ${what} ${await check()}\n`)
  } catch (thrown) {
    const why = reasonOf(thrown)
    process.stdout.write(`failed  ${what} ${why}\n`)
    process.exitCode = 1
  }
}
