import { inspectProvider, storedName } from '../../../archives/archive/archive.ts'
import type { FetchOptions, ProviderRelease } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { mistake } from '../failure.ts'
import type { Candidate } from './candidate.ts'
import type { ProviderPlan } from './plan.ts'
import { documentsOf } from './release-documents.ts'

/** Fetches the archive of a platform, whose release was verified before, and reads all of it. */
export async function fetchProvider(
  { limits: { provider: limits } }: Context,
  plan: ProviderPlan,
  release: ProviderRelease,
  options: FetchOptions,
): Promise<Candidate> {
  const fetched = await plan.upstream.fetch(release, options)
  try {
    const { sha256, sizeBytes, h1, contentDigest } = await inspectProvider({
      file: fetched.file.path,
      type: plan.configName,
      limits,
      signal: options.signal,
    })
    if (sha256 !== release.shasum) {
      throw mistake('ChecksumMismatch', 'the archive changed between its download and its check')
    }
    const stem = release.fileName.replace(/\.zip$/i, '')
    return {
      file: fetched.file,
      fileName: storedName(stem, `-${sha256.slice(0, 12)}.zip`),
      sha256,
      sizeBytes,
      contentDigest,
      revision: release.revision,
      hashes: [h1, ...new Set([`zh:${sha256}`, ...[...release.hashes.values()].toSorted()])],
      release: {
        fileName: release.fileName,
        documents: documentsOf(plan.configName, release),
        keyFingerprint: release.signer?.fingerprint,
        isSigned: release.signatureState === 'Verified',
      },
    }
  } catch (error) {
    await fetched.file.remove()
    throw error
  }
}
