import type { SecurityFinding } from '../../api/v1alpha1/v1alpha1.ts'
import { ReasonError } from '../../base/errors/errors.ts'

/** The subject of a scan: the files of a module, the executables of a provider, or its go.mod and go.sum. */
export type ScanTarget = 'source' | 'binary' | 'dependencies'

/** The scanner program and its data. Scans with equal ones find the same. */
export interface ScannerIdentity {
  /** Name and version, such as trivy 0.70.0. */
  readonly scanner: string
  /** Database for each target. Undefined if it has none, or does not say. */
  readonly databases: Readonly<Partial<Record<ScanTarget, string | undefined>>>
}

/** A program that scans a folder. It runs in a process of its own, without network if the operator cuts it off. */
export interface ArchiveScanner {
  readonly command: string
  /** Cheap enough for once a minute. @throws ScanError */
  identity(): Promise<ScannerIdentity>
  /** Changes the copy of an archive that it is about to scan. */
  prepare?(target: ScanTarget, folder: string): Promise<void>
  /** @throws ScanError if it cannot scan that */
  argumentsFor(target: ScanTarget, folder: string, identity: ScannerIdentity): readonly string[]
  /**
   * The findings in its output, which is untrusted.
   *
   * @param executables names of the files that Terraform may start as the provider
   * @throws ScanError
   */
  findingsIn(output: Buffer, target: ScanTarget, executables: readonly string[]): SecurityFinding[]
}

/** A scan without a result: what was found before stays. */
export class ScanError extends ReasonError<'ScanFailed' | 'ScannerAbsent' | 'NothingRecognised'> {}
