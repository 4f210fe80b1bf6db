import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storedName } from '../../api/v1alpha1/v1alpha1.ts'
import {
  type ArchiveLimits,
  inspectProvider,
  providerFileName,
} from '../../archives/archive/archive.ts'
import { PageCollector } from '../../archives/docs/docs.ts'
import { ifExists } from '../../base/errors/errors.ts'
import { protocolsIn } from '../importing/importing.ts'
import { archiveHashes, FillError, type Platform, readShasums } from '../sources/sources.ts'
import type { PublishedArchive } from './publish.ts'

/** The zip of one platform. */
export type ReleaseArchive = PublishedArchive & { readonly platform: Platform }

/** The files of one version in a folder, by their names. */
export interface FoundRelease {
  readonly folder: string
  /** The folder in messages. */
  readonly shownAs: string
  readonly type: string
  /** Without a leading `v`. */
  readonly version: string
  readonly zips: readonly ({ readonly file: string } & Platform)[]
}

interface Asked {
  /** Folder of the zips of a release, as GoReleaser writes it. */
  readonly folder: string
  readonly shownAs?: string | undefined
  /** Type of the provider. */
  readonly type: string
  /** Undefined: the one of all zips. */
  readonly version: string | undefined
}

const stemOf = (type: string, version: string) => `terraform-provider-${type}_${version}`

/** Ends of the names of the other files of a release. */
const sidecars = ['SHA256SUMS', 'SHA256SUMS.sig', 'manifest.json'] as const

/** Names of the files that a release may have beside its zips. */
export const sidecarNames = (type: string, version: string): readonly string[] =>
  sidecars.map((sidecar) => `${stemOf(type, version)}_${sidecar}`)

/** @throws FillError NoProviderInArchive */
export async function findRelease({
  folder,
  shownAs = folder,
  type,
  version: asked,
}: Asked): Promise<FoundRelease> {
  const names = (await readdir(folder)).toSorted().flatMap((file) => {
    const named = providerFileName(file)
    return named?.type === type ? [{ file, ...named }] : []
  })
  const versions = [...new Set(names.map((one) => one.version))]
  const [only, ...others] = versions
  const version = asked?.replace(/^v(?=\d)/, '') ?? (others.length === 0 ? only : undefined)
  if (version === undefined || !versions.includes(version)) {
    throw new FillError('NoProviderInArchive', missing(shownAs, type, version, versions))
  }
  const zips = names
    .filter((one) => one.version === version)
    .map(({ file, os, arch }) => ({ file, os, arch }))
  for (const [platform, same] of Map.groupBy(zips, ({ os, arch }) => `${os}_${arch}`)) {
    if (same.length === 1) continue
    throw new FillError(
      'NoProviderInArchive',
      `${shownAs} has several zips for ${platform}: ${same.map(({ file }) => file).join(', ')}. Publish one of them`,
    )
  }
  return { folder, shownAs, type, version, zips }
}

function missing(
  folder: string,
  type: string,
  version: string | undefined,
  versions: readonly string[],
): string {
  const expected = `${stemOf(type, version ?? 'VERSION')}_OS_ARCH.zip`
  if (versions.length === 0) return `${folder} has no ${expected}: build the release first`
  return version === undefined
    ? `${folder} has zips of several versions, ${versions.join(', ')}: write --version`
    : `${folder} has no ${expected}; it has those of ${versions.join(', ')}`
}

/** The file SHA256SUMS and its signature, as far as they are there. */
export async function checksumsOf({ folder, type, version }: FoundRelease) {
  const name = `${stemOf(type, version)}_SHA256SUMS`
  const shasums = await ifExists(readFile(join(folder, name)))
  const signature = await ifExists(readFile(join(folder, `${name}.sig`)))
  return { name, shasums, signature, sums: shasums && readShasums(shasums) }
}

/**
 * Reads every zip, and compares the release with its checksums.
 *
 * @param context.limits those of providers
 * @throws FillError, ArchiveError
 */
export async function inspectRelease(
  { limits, signal }: { readonly limits: ArchiveLimits; readonly signal: AbortSignal },
  { folder, shownAs, type, version, zips }: FoundRelease,
  sums: ReadonlyMap<string, string> | undefined,
): Promise<readonly ReleaseArchive[]> {
  const stem = stemOf(type, version)
  const protocols = protocolsIn(
    String((await ifExists(readFile(join(folder, `${stem}_manifest.json`)))) ?? ''),
  )
  const platforms = new Set(zips.map(({ os, arch }) => `${os}_${arch}`))
  const listed = [...archiveHashes(sums ?? new Map(), type, version).keys()]
  const lacking = listed.filter((platform) => !platforms.has(platform))
  if (lacking.length > 0) {
    throw new FillError(
      'NoProviderInArchive',
      `${stem}_SHA256SUMS lists zips for ${lacking.join(', ')}, which ${shownAs} lacks: add them`,
    )
  }
  const archives: ReleaseArchive[] = []
  for (const { file, os, arch } of zips) {
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
    archives.push({
      file: { path, sha256, sizeBytes },
      fileName: storedName(`${stem}_${os}_${arch}`, `-${sha256.slice(0, 12)}.zip`),
      docs: await pages.packed(),
      platform: { os, arch },
      protocols,
    })
  }
  return archives
}
