import {
  checksumOf,
  fileNameOf,
  sha256Hex,
  sourceFileOf,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { ScanTarget } from './scanner.ts'

/** A stored file of a Version that is scanned on its own, and the fields for its result. */
export interface ScanPart {
  readonly target: ScanTarget
  readonly findings: 'sourceScan' | 'binaryScan'
  readonly summary: 'scan' | 'dependencyScan'
  readonly condition: 'Scanned' | 'SourceScanned'
}

const archives = {
  Module: { target: 'source', findings: 'sourceScan', summary: 'scan', condition: 'Scanned' },
  Provider: { target: 'binary', findings: 'binaryScan', summary: 'scan', condition: 'Scanned' },
} as const satisfies Record<Version['spec']['type'], ScanPart>

/** go.mod and go.sum of a provider. */
export const dependencies = {
  target: 'dependencies',
  findings: 'sourceScan',
  summary: 'dependencyScan',
  condition: 'SourceScanned',
} as const satisfies ScanPart

export const partsOf = (type: Version['spec']['type']): readonly ScanPart[] =>
  type === 'Module' ? [archives.Module] : [archives.Provider, dependencies]

/** Whether scans look at a Version. */
export const isWanted = (
  { scansProviders }: { readonly scansProviders: boolean },
  { spec }: Version,
): boolean => spec.type === 'Module' || scansProviders

interface StoredPart {
  readonly fileName: string
  /** The digest that it must have, in hexadecimal; undefined if the Version does not say. */
  readonly sha256: string | undefined
}

/** @returns undefined if a Version has no such file */
export function storedPart(version: Version, { target }: ScanPart): StoredPart | undefined {
  const fileName = fileNameOf(version)
  if (fileName === undefined) return undefined
  if (target !== 'dependencies') return { fileName, sha256: digestOf(version) }
  const { artifact } = version.status ?? {}
  const source = sourceFileOf(artifact)
  return source === undefined ? undefined : { fileName: source, sha256: artifact?.source?.sha256 }
}

/**
 * The SHA-256 that the stored archive of a Version must have, in hexadecimal.
 *
 * @returns undefined if the Version does not say
 */
export const digestOf = (version: Version): string | undefined =>
  sha256Hex(checksumOf(version) ?? '')
