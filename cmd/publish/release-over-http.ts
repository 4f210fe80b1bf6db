import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { usageBlock } from '../../pkg/api/usage/usage.ts'
import { ifExists, unavailable } from '../../pkg/base/errors/errors.ts'
import type { PublishCommandOptions } from '../../pkg/base/options/options.ts'
import {
  checksumsOf,
  type FoundRelease,
  findRelease,
  inspectRelease,
  type ReleaseArchive,
  sidecarNames,
} from '../../pkg/fill/publishing/publishing.ts'
import { Destination, missingFiles, type SentFile } from './destination.ts'
import { queryOf, registryAt, type Sent, withUsage } from './over-http.ts'
import { finish, type PublishEnd, providerJson, providerText } from './report.ts'

/** Each replica of the controller keeps its own files, so some may have to be sent again. */
const rounds = 6

/**
 * Checks the zips of a release, and sends those that the registry lacks. It publishes them once all are there.
 *
 * @returns the exit status
 * @throws OptionsError, ReasonError
 */
export async function publishReleaseOverHttp(
  options: PublishCommandOptions,
  { file: folder, host, address, limits, signal }: Sent,
): Promise<number> {
  await using registry = await registryAt(options, host)
  const release = await findRelease({ folder, type: address.name, version: options.version })
  const { sums } = await checksumsOf(release)
  const archives = await inspectRelease({ limits, signal }, release, sums)
  const { version } = release
  const shown = { target: { address, version }, archives, signer: undefined, refusals: [] }
  const { namespace, name } = address
  const used = { registryHost: host, namespace, kind: 'provider', name }
  return await finish(options, {
    shown: providerText(shown),
    json: (outcome) => providerJson(shown, outcome, host),
    refusals: [],
    planned: `it would be sent to ${host}`,
    run: async () => {
      const to = new Destination(registry, { host, address, version, signal })
      const ended = await sendRelease(to, options, await filesOf(release, archives))
      return withUsage(ended, usageBlock(used, 'terraform', version))
    },
  })
}

/** Asks first, so that no file is sent that exists or cannot be published. */
async function sendRelease(
  to: Destination,
  options: PublishCommandOptions,
  files: ReadonlyMap<string, SentFile>,
): Promise<PublishEnd> {
  const digests = Object.fromEntries(Array.from(files, ([name, { sha256 }]) => [name, sha256]))
  const zips = [...files.keys()].filter((name) => name.endsWith('.zip'))
  for (let round = 1; round <= rounds; round += 1) {
    const answered = await to.finish(digests, queryOf(options))
    const missing = missingFiles(answered)
    if (missing === undefined) return to.end(answered, options, zips.length)
    for (const name of missing) {
      const file = files.get(name)
      if (file === undefined) continue
      const sent = await to.put(file, `/${name}`)
      if (sent.status >= 300) return to.end(sent, options)
    }
  }
  throw unavailable(
    'files of the release were missing each time: the controller has several replicas, or another job with the same identity sends other files of this version',
  )
}

async function filesOf(
  { folder, type, version }: FoundRelease,
  archives: readonly ReleaseArchive[],
): Promise<ReadonlyMap<string, SentFile>> {
  const files = new Map<string, SentFile>()
  for (const { file } of archives) files.set(basename(file.path), file)
  for (const name of sidecarNames(type, version)) {
    const path = join(folder, name)
    const bytes = await ifExists(readFile(path))
    if (bytes === undefined) continue
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    files.set(name, { path, sha256, sizeBytes: bytes.length })
  }
  return files
}
