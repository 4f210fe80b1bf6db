import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { usageBlock } from '../../pkg/api/usage/usage.ts'
import {
  type ArchiveLimits,
  type ModuleArchive,
  normaliseModule,
} from '../../pkg/archives/archive/archive.ts'
import { type PackedDocs, packedDocs, plainText } from '../../pkg/archives/docs/docs.ts'
import { jsonOf, unavailable } from '../../pkg/base/errors/errors.ts'
import { createPool, type Pool, type ProxyRules, readBounded } from '../../pkg/base/http/http.ts'
import { OptionsError, type PublishCommandOptions } from '../../pkg/base/options/options.ts'
import { type PublishAddress, requireNoSecrets } from '../../pkg/fill/publishing/publishing.ts'
import { cliConfig, loginRemedy, tokenInFile } from '../compare/compare.ts'
import type { PublishOutcome } from './report.ts'

/** A module to send to a registry. */
interface Sent {
  readonly file: string
  readonly host: string
  readonly address: PublishAddress
  readonly version: string
  readonly allowed: readonly string[]
  readonly limits: ArchiveLimits
  readonly proxies: ProxyRules
}

/** The server waits until it serves the version, and then asks to be asked again. */
const attempts = 6
const maxAnswerBytes = 1024 * 1024
const bounds = { connectMs: 10_000, headersMs: 300_000, idleMs: 60_000 }
const Discovery = z.object({ 'modules.v1': z.string() })
const Unserved = z.object({ message: z.string() })
const Published = z.object({
  outcome: z.enum(['published', 'exists']),
  sha256: z.string(),
  unserved: Unserved.optional(),
})
const Refused = z.object({ errors: z.array(z.string()) })

/**
 * Packs a module and sends it to a registry, whose server says when it serves the version.
 *
 * @returns the exit status
 * @throws OptionsError, ReasonError
 */
export async function publishOverHttp(
  { tokenFile, dryRun, output }: PublishCommandOptions,
  { file, host, address, version, allowed, limits, proxies }: Sent,
): Promise<number> {
  const token =
    tokenFile === undefined ? (await cliConfig()).tokenFor(host) : await tokenInFile(tokenFile)
  if (token === undefined && !dryRun)
    throw new OptionsError([`there is no token for ${host}: ${loginRemedy(host, false)}`])
  const workDir = await mkdtemp(join(tmpdir(), 'depot-publish-'))
  const pool = createPool({ ...bounds, proxies })
  try {
    const { signal } = new AbortController()
    await requireNoSecrets({ file, limits, signal }, allowed)
    let docs: PackedDocs | undefined
    const into = join(workDir, 'module')
    const archive = await normaliseModule({
      file,
      into,
      format: 'tar.gz',
      limits,
      visit: async (module) => {
        docs = await packedDocs(module.files, module.read)
      },
    })
    const { namespace, name, system = '' } = address
    const path = `${namespace}/${name}/${system}`
    const { sha256, sizeBytes } = archive
    const end = (outcome: PublishOutcome, text: string) =>
      process.stdout.write(
        plainText(
          output === 'json'
            ? `${JSON.stringify({ schema: 1, outcome, host, address, version, archive: { sha256, sizeBytes } }, null, 2)}\n`
            : `${path} ${version}\narchive: ${sizeBytes} bytes\nsha256: ${sha256}\n${text}\n`,
        ),
      )
    if (dryRun) {
      end('planned', `it would be sent to ${host}`)
      return 0
    }
    const url = await endpoint(pool, host, `modules/${path}/${version}`)
    if (allowed.length > 0) url.searchParams.set('allow-file', allowed.join(','))
    const answer = await send(pool, url, archive, token ?? '')
    const published = Published.safeParse(answer.body).data
    if (answer.status === 202 && published?.unserved === undefined)
      throw unavailable(`${host} has stored the version and does not serve it yet`)
    if (answer.status >= 300) return refuse(answer, host)
    const { outcome, unserved } = Published.parse(answer.body)
    const used = { registryHost: host, namespace, kind: 'module', name, provider: system }
    const required = docs?.root?.inputs.filter((input) => input.required) ?? []
    const block = usageBlock(used, 'terraform', version, required)
    const was = outcome === 'exists' ? 'it was published already' : 'it is published'
    const now = unserved
      ? `${host} does not serve it yet: ${unserved.message}`
      : `${host} serves it`
    end(outcome, `${was}\n${now}\n\n${block}`)
    return 0
  } finally {
    await pool.close()
    await rm(workDir, { recursive: true, force: true })
  }
}

/** The token goes to the registry's own host only, whatever its discovery says. */
async function endpoint(pool: Pool, host: string, path: string): Promise<URL> {
  const isNear = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)
  const origin = `${isNear ? 'http' : 'https'}://${host}`
  const { status, body } = await ask(pool, new URL('/.well-known/terraform.json', origin))
  const found = Discovery.safeParse(body)
  if (status !== 200 || !found.success) {
    throw unavailable(
      `${origin}/.well-known/terraform.json answered ${status} and names no registry of modules`,
    )
  }
  const url = new URL(`../../publish/v1/${path}`, new URL(found.data['modules.v1'], origin))
  if (url.origin !== new URL(origin).origin) {
    throw new OptionsError([`--to: ${host} is served by ${url.origin}: name that host`])
  }
  return url
}

interface Read {
  readonly status: number
  readonly body: unknown
}

/** @throws RegistryError Unavailable */
async function ask(pool: Pool, url: URL, request: object = {}): Promise<Read> {
  const { origin, pathname, search } = url
  try {
    const answer = await pool.send(
      { origin },
      { method: 'GET', path: pathname + search, ...request },
    )
    const text = (await readBounded(answer.body, maxAnswerBytes)).toString()
    return { status: answer.status, body: jsonOf(text) }
  } catch (cause) {
    throw unavailable(`${origin} cannot be reached`, cause)
  }
}

/** The same archive can be sent again: the version keeps its files. */
async function send(
  pool: Pool,
  url: URL,
  { file, sha256, sizeBytes }: ModuleArchive,
  token: string,
): Promise<Read> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/gzip',
    'content-length': String(sizeBytes),
    'x-depot-sha256': sha256,
    'user-agent': 'depot',
  }
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask(pool, url, { method: 'PUT', headers, body: createReadStream(file) })
    const isKnown = answer.status !== 202 || Published.safeParse(answer.body).data?.unserved
    if (isKnown || attempt === attempts) return answer
  }
}

/** @throws RegistryError Unavailable if the same may succeed later */
function refuse({ status, body }: Read, host: string): number {
  const { errors } = Refused.safeParse(body).data ?? { errors: [`${host} answered ${status}`] }
  if (status >= 500) throw unavailable(errors.join('; '))
  for (const error of errors) process.stderr.write(plainText(`depot: ${error}\n`))
  if (status === 401) process.stderr.write(`depot: ${loginRemedy(host, true)}\n`)
  return 1
}
