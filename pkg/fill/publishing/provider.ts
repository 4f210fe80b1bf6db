import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { inspectProvider, providerFileName, storedName } from '../../archives/archive/archive.ts'
import { PageCollector } from '../../archives/docs/docs.ts'
import type { ArchivePlace } from '../../archives/storage/storage.ts'
import { codeOf } from '../../base/errors/errors.ts'
import { protocolsIn } from '../importing/importing.ts'
import { archiveHashes, FillError, readShasums, verifySignature } from '../sources/sources.ts'
import { backRefused, type PublishContext } from './plan.ts'
import { createParent, createVersion, type PublishedArchive, storeArchive } from './publish.ts'
import {
  conflictOf,
  otherBuildOf,
  type PublishAddress,
  publishedAs,
  type Target,
  targetOf,
} from './target.ts'

interface AskedRelease {
  /** Folder of the zips of a release, as GoReleaser writes it. */
  readonly folder: string
  readonly address: PublishAddress
  /** Undefined: the one of all zips. */
  readonly version: string | undefined
  readonly storage: StorageConfig | undefined
}

/** The zips of a release, and everything that is in its way. */
export interface ProviderPublication {
  readonly target: Target
  readonly archives: readonly (PublishedArchive & { readonly isThere: boolean })[]
  /** Fingerprint of the key that signed the checksums. */
  readonly signer: string | undefined
  readonly refusals: readonly FillError[]
}

/**
 * Checks the zips of a release. Nothing is stored.
 *
 * @param context.limits those of providers
 * @throws FillError, ArchiveError
 */
export async function planProvider(
  context: PublishContext,
  { folder, address, version: asked, storage }: AskedRelease,
): Promise<ProviderPublication> {
  const { objects, limits, signal } = context
  const type = address.name
  const names = (await readdir(folder)).toSorted().flatMap((file) => {
    const named = providerFileName(file)
    return named?.type === type ? [{ file, ...named }] : []
  })
  const versions = [...new Set(names.map((one) => one.version))]
  const [only, ...others] = versions
  const version = asked?.replace(/^v(?=\d)/, '') ?? (others.length === 0 ? only : undefined)
  if (version === undefined || !versions.includes(version)) {
    throw new FillError('NoProviderInArchive', missing(folder, type, version, versions))
  }
  const target = targetOf(objects, address, version, storage)
  const stem = `terraform-provider-${type}_${version}`
  const { sums, signer } = await readSums(join(folder, `${stem}_SHA256SUMS`), target)
  const protocols = protocolsIn(await textOf(join(folder, `${stem}_manifest.json`)))
  const offered = names.filter((one) => one.version === version)
  const platforms = new Set(offered.map(({ os, arch }) => `${os}_${arch}`))
  const listed = [...archiveHashes(sums ?? new Map(), type, version).keys()]
  const lacking = listed.filter((platform) => !platforms.has(platform))
  if (lacking.length > 0) {
    throw new FillError(
      'NoProviderInArchive',
      `${stem}_SHA256SUMS lists zips for ${lacking.join(', ')}, which ${folder} lacks: add them`,
    )
  }
  const archives: ProviderPublication['archives'][number][] = []
  for (const { file, os, arch } of offered) {
    const path = join(folder, file)
    const pages = new PageCollector()
    const { sha256, sizeBytes } = await inspectProvider({
      file: path,
      type,
      limits,
      signal,
      visit: pages.take,
    })
    if (sums !== undefined && sums.get(file) !== sha256) {
      throw new FillError(
        'ChecksumMismatch',
        `${file} has SHA-256 ${sha256}, and ${stem}_SHA256SUMS has ${sums.get(file) ?? 'none'} for it: build both again`,
      )
    }
    const platform = { os, arch }
    archives.push({
      file: { path, sha256, sizeBytes },
      fileName: storedName(`${stem}_${os}_${arch}`, `-${sha256.slice(0, 12)}.zip`),
      docs: await pages.packed(),
      platform,
      protocols,
      isThere: publishedAs(target, { sha256, platform }) !== undefined,
    })
  }
  // The rest of a version may follow later ones: a run may have been killed.
  const back = archives.some(({ isThere }) => isThere) ? undefined : backRefused(target)
  const refusals = refusalsOf(target, archives)
  return { target, archives, signer, refusals: back === undefined ? refusals : [back, ...refusals] }
}

/** All platforms of a version come from one build, whose archives are those of the release. */
const refusalsOf = (target: Target, archives: readonly PublishedArchive[]): readonly FillError[] =>
  [
    otherBuildOf(target, archives),
    ...archives.map(({ file: { sha256 }, platform }) => conflictOf(target, { sha256, platform })),
  ].filter((refusal) => refusal !== undefined)

/**
 * Stores every zip, then creates the Provider if it is missing, then a Version for each platform. After a kill between two
 * of these the next run adds the platforms that are missing.
 *
 * @returns `exists` if all platforms were served with these files before
 * @throws FillError why it is refused; RegistryError, ApiError
 */
export async function publishProvider(
  context: PublishContext,
  { target, archives, refusals }: ProviderPublication,
): Promise<'published' | 'exists'> {
  const refuse = ([refusal]: readonly FillError[]): void => {
    if (refusal !== undefined) throw refusal
  }
  refuse(refusals)
  const missingOnes = archives.filter(({ isThere }) => !isThere)
  const { storageConfig, name } = target.config
  const place: ArchivePlace = context.archives.for(storageConfig, name)
  for (const archive of missingOnes) await storeArchive(context, place, archive)
  const wasMissing = await createParent(context, target)
  // Another build may have been faster, or published a platform meanwhile.
  refuse(refusalsOf(target, archives))
  for (const archive of missingOnes) {
    await createVersion(context, target, archive)
    refuse(refusalsOf(target, archives))
  }
  return wasMissing || missingOnes.length > 0 ? 'published' : 'exists'
}

function missing(
  folder: string,
  type: string,
  version: string | undefined,
  versions: readonly string[],
): string {
  const expected = `terraform-provider-${type}_${version ?? 'VERSION'}_OS_ARCH.zip`
  if (versions.length === 0) return `${folder} has no ${expected}: build the release first`
  return version === undefined
    ? `${folder} has zips of several versions, ${versions.join(', ')}: write --version`
    : `${folder} has no ${expected}; it has those of ${versions.join(', ')}`
}

/** A Provider with `trustedKeys` takes only what one of them signed. @throws FillError */
async function readSums(path: string, { config: { trustedKeys = [] } }: Target) {
  const shasums = await bytesOf(path)
  const signature = await bytesOf(`${path}.sig`)
  if (trustedKeys.length === 0) return { sums: shasums && readShasums(shasums), signer: undefined }
  if (shasums === undefined || signature === undefined) {
    throw new FillError(
      'Unsigned',
      `the provider has trustedKeys, and ${path}${shasums === undefined ? '' : '.sig'} is missing: sign the checksums with one of them`,
    )
  }
  const input = { shasums, signature, offered: [], trustedKeys, nowMs: Date.now() }
  const { signer } = await verifySignature(input)
  return { sums: readShasums(shasums), signer: signer.fingerprint }
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const textOf = async (path: string): Promise<string> => String((await bytesOf(path)) ?? '')
