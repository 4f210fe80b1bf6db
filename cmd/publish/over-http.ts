import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageBlock } from '../../pkg/api/usage/usage.ts'
import type { ArchiveLimits } from '../../pkg/archives/archive/archive.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { OptionsError, type PublishCommandOptions } from '../../pkg/base/options/options.ts'
import {
  comparedWith,
  newestBefore,
  type PackedModule,
  type PublishAddress,
  packModule,
} from '../../pkg/fill/publishing/publishing.ts'
import { loginRemedy, openRegistry, type Registry, usersOf } from '../registry/registry.ts'
import { Destination } from './destination.ts'
import { givenToken } from './job-token.ts'
import {
  asJson,
  asText,
  brokenWarning,
  finish,
  type PublishEnd,
  type ShownComparison,
} from './report.ts'

/** A version to send to a registry. */
export interface Sent {
  /** Path of a folder or an archive. */
  readonly file: string
  readonly host: string
  readonly address: PublishAddress
  readonly limits: ArchiveLimits
  readonly signal: AbortSignal
}

/** @throws OptionsError if there is no token, which a dry run does not need */
export async function registryAt(options: PublishCommandOptions, host: string): Promise<Registry> {
  const { dryRun } = options
  const given = await givenToken(options, host)
  const registry = await openRegistry(options, [host], given)
  if (dryRun || registry.hasToken(host)) return registry
  await registry[Symbol.asyncDispose]()
  throw new OptionsError([`there is no token for ${host}: ${loginRemedy(host, false)}`])
}

/** The query of a publication. */
export const queryOf = (
  { noWait }: Pick<PublishCommandOptions, 'noWait'>,
  allowed: readonly string[] = [],
): string =>
  String(
    new URLSearchParams({
      ...(allowed.length > 0 && { 'allow-file': allowed.join(',') }),
      ...(noWait && { wait: 'false' }),
    }),
  )

/**
 * Packs a module, compares it with the previous version in a registry, and sends it. The server says when it serves the
 * version.
 *
 * @returns the exit status
 * @throws OptionsError, ReasonError
 */
export async function publishOverHttp(
  options: PublishCommandOptions,
  sent: Sent & { readonly version: string; readonly allowed: readonly string[] },
): Promise<number> {
  const { file, host, address, version, allowed, limits, signal } = sent
  await using registry = await registryAt(options, host)
  const to = new Destination(registry, { host, address, version, signal })
  await using work = await mkdtempDisposable(join(tmpdir(), 'depot-publish-'))
  const context = { limits, signal, workDir: work.path }
  return await packModule(context, { file, allowed, format: 'tar.gz' }, async (packed) => {
    if (packed.refusals.length > 0) {
      for (const { message } of packed.refusals) process.stderr.write(`depot: ${message}\n`)
      return 1
    }
    const compared = await comparedAt(registry, to, { host, version }, packed)
    const shown = { ...packed, ...compared, target: { address, version } }
    if (compared.isBroken) process.stderr.write(brokenWarning(shown))
    const { file: path, sha256, sizeBytes } = packed.archive
    return finish(options, {
      shown: asText(shown),
      json: (outcome) => asJson(shown, outcome, host),
      refusals: [],
      planned: `it would be sent to ${host}`,
      run: async () => {
        const query = queryOf(options, packed.accepted)
        const answered = await to.put({ path, sha256, sizeBytes }, '', query)
        return withUsage(await to.end(answered, options), usageOf(sent, packed))
      },
    })
  })
}

/** Adds how to use the published version. */
export const withUsage = (ended: PublishEnd, usage: string): PublishEnd =>
  ended.outcome === 'refused' ? ended : { ...ended, text: `${ended.text}\n\n${usage}` }

/** Compares with the newest earlier stable version that the caller may read. */
async function comparedAt(
  registry: Registry,
  to: Destination,
  { host, version }: { readonly host: string; readonly version: string },
  { interface: after }: PackedModule,
): Promise<ShownComparison> {
  const unlike = { comparison: undefined, uncompared: undefined, isBroken: false }
  const versions = await to.versions()
  if (typeof versions === 'string') return { ...unlike, uncompared: { message: versions } }
  const from = newestBefore(
    versions.map((one) => one.version),
    version,
  )
  if (from === undefined) return unlike
  const before = { host, path: to.path, version: from }
  const usedBy = await usersOf(registry, before)
  try {
    const compared = comparedWith(await registry.docsOf(before), after, { from, to: version })
    return { ...unlike, ...compared, usedBy }
  } catch (error) {
    return { ...unlike, uncompared: { from, message: messageOf(error) }, usedBy }
  }
}

function usageOf(
  { host, address, version }: Sent & { readonly version: string },
  { interface: docs }: PackedModule,
): string {
  const { namespace, name, system: provider = '' } = address
  const used = { registryHost: host, namespace, kind: 'module', name, provider }
  const required = docs.root.inputs.filter((input) => input.required)
  return usageBlock(used, 'terraform', version, required)
}
