// Checks an installed registry from inside the cluster; `helm test` runs it. Prints a line for each check and exits with 1
// if one failed.

import { existsSync, readFileSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { parseArgs } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { messageOf } from '../../pkg/base/errors/errors.ts'

const account = '/var/run/secrets/kubernetes.io/serviceaccount'
const timeoutMs = 10_000

const usage =
  'usage: selftest URL [--admin-url URL] [--base-url URL] [--valkey-addr HOST:PORT] [--api-group GROUP] [--ca-path FILE]\n'

const { values: flags, positionals } = parsed()

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        'admin-url': { type: 'string' },
        'valkey-addr': { type: 'string' },
        'api-group': { type: 'string', default: 'depot.internal' },
        'ca-path': { type: 'string' },
        'base-url': { type: 'string' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    process.stderr.write(`selftest: ${messageOf(error)}\n${usage}`)
    return process.exit(2)
  }
}

if (flags.help === true || flags.version === true) {
  process.stdout.write(flags.help === true ? usage : `${packageJson.version}\n`)
  process.exit(0)
}

/**
 * The body of a successful answer. fetch accepts no certificate authority.
 *
 * @param ca certificates of the server's authority; default: those of Node
 */
async function get(url: string, ca?: Buffer, token?: string): Promise<string> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const send = url.startsWith('https:') ? https.get : http.get
  const request = send(
    url,
    { ca, headers, timeout: timeoutMs, checkServerIdentity: checkName },
    resolve,
  )
  request.on('error', reject)
  request.on('timeout', () => {
    request.destroy(new Error(`${url} did not answer within ${timeoutMs / 1000} s`))
  })
  const response = await promise
  const body = await text(response)
  if (response.statusCode === 200) return body
  throw new Error(`answered ${response.statusCode}, expected 200: ${body}`)
}

const path = flags['ca-path']
/** A Secret without `ca.crt` leaves no file: the authorities of the system are trusted then. */
const found = path !== undefined && existsSync(path) ? readFileSync(path) : undefined
const ownCa = found === undefined || found.length === 0 ? undefined : found

async function discovery(url: string): Promise<string> {
  const body = await get(`${url}/.well-known/terraform.json`, ownCa)
  const document: unknown = JSON.parse(body)
  if (!(document instanceof Object) || !('modules.v1' in document)) {
    throw new Error(`does not name a module registry: ${body}`)
  }
  return 'names the module registry'
}

async function readiness(url: string): Promise<string> {
  await get(`${url}/readyz`, ownCa)
  return 'is ready'
}

async function definitions(group: string): Promise<string> {
  if (!existsSync(`${account}/token`)) throw new Error('no service account token is mounted')
  const ca = readFileSync(`${account}/ca.crt`)
  const token = readFileSync(`${account}/token`, 'utf8')
  const body = await get(`https://kubernetes.default.svc/apis/${group}/v1alpha1`, ca, token)
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

/** A certificate may name the base URL instead of the address inside the cluster. */
function checkName(host: string, certificate: PeerCertificate): Error | undefined {
  const error = checkServerIdentity(host, certificate)
  const baseUrl = flags['base-url']
  if (error === undefined || baseUrl === undefined) return error
  return checkServerIdentity(new URL(baseUrl).hostname, certificate) && error
}

const [url] = positionals
if (url === undefined) {
  process.stderr.write(usage)
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
    process.stdout.write(`failed  ${what} ${messageOf(thrown)}\n`)
    process.exitCode = 1
  }
}
