import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import type { SecurityFinding } from '../../api/v1alpha1/v1alpha1.ts'
import { jsonOf, printable } from '../../base/errors/errors.ts'
import { findingId } from './findings.ts'
import { disableIgnoreComments } from './ignore-comments.ts'
import { type ArchiveScanner, ScanError, type ScannerIdentity, type ScanTarget } from './scanner.ts'
import { failed, jsonIn, runScanner } from './scanner-process.ts'

export interface TrivyOptions {
  readonly command: string
  /** Folder with its databases. It is only read while `isOffline`. */
  readonly cacheDir: string
  /** Whether it uses the databases that it has. */
  readonly isOffline: boolean
}

const text = z.string()
/** A text that is stored with every scan. */
const shortText = text.transform((long) => printable(long, 128))
const TrivyVersion = z.object({
  Version: shortText,
  VulnerabilityDB: z.object({ UpdatedAt: shortText }).optional(),
  CheckBundle: z.object({ Digest: shortText }).optional(),
})

const Vulnerability = z.object({
  VulnerabilityID: findingId,
  PkgName: text.default(''),
  InstalledVersion: text.default(''),
  FixedVersion: text.optional(),
  Severity: text.default('UNKNOWN'),
  Title: text.default(''),
})
const Misconfiguration = z.object({
  ID: findingId,
  Title: text.default(''),
  Severity: text.default('UNKNOWN'),
  Status: text.default('FAIL'),
  CauseMetadata: z.object({ Resource: text.default('') }).optional(),
})
const TrivyReport = z.object({
  SchemaVersion: z.literal(2),
  Results: z
    .array(
      z.object({
        Target: text.default(''),
        Class: text.default(''),
        Type: text.default(''),
        Vulnerabilities: z.array(Vulnerability).default([]),
        Misconfigurations: z.array(Misconfiguration).default([]),
      }),
    )
    .nullish(),
})

/** Trivy: misconfigurations of modules by its embedded checks, and vulnerable packages of providers and their sources by its database. */
export function trivyScanner({ command, cacheDir, isOffline }: TrivyOptions): ArchiveScanner {
  const name = basename(command)
  const common = ['--format', 'json', '--cache-dir', cacheDir]
  const shared = [
    ...common,
    '--quiet',
    '--skip-version-check',
    '--disable-telemetry',
    '--cache-backend=memory',
  ]
  return {
    command,
    async identity() {
      await using home = await mkdtempDisposable(join(tmpdir(), 'depot-trivy-'))
      const args = ['version', ...common]
      const limits = { deadlineMs: 60_000, maxOutputBytes: 1024 * 1024 }
      const run = { command, args, home: home.path, isOffline, ...limits }
      return identityIn(await runScanner({ ...run, signal: new AbortController().signal }), name)
    },
    async prepare(target, folder) {
      if (target === 'source') await disableIgnoreComments(folder)
    },
    argumentsFor(target, folder, { databases }) {
      if (target === 'source') {
        const offline = isOffline ? ['--offline-scan', '--skip-check-update'] : []
        // In the folder that it is given, Trivy leaves out the subfolders dev, proc and sys.
        return ['fs', '--scanners', 'misconfig', ...shared, ...offline, dirname(folder)]
      }
      if (isOffline && databases.binary === undefined) {
        throw failed(
          `${name} has no vulnerability database in ${cacheDir}: run ${name} image --download-db-only --cache-dir ${cacheDir}, or let it download one with --scanner-offline=false`,
        )
      }
      const offline = isOffline
        ? ['--offline-scan', '--skip-db-update', '--skip-java-db-update']
        : []
      const kind = target === 'binary' ? 'rootfs' : 'fs'
      return [kind, '--scanners', 'vuln', ...shared, ...offline, folder]
    },
    findingsIn(output, target, executables) {
      const results = resultsIn(output, name)
      const unread = unreadIn(results, target, executables)
      if (unread === undefined) return findingsOf(results)
      throw new ScanError('NothingRecognised', `${name} recognised no packages in ${unread}`)
    },
  }
}

/** @throws ScanError */
function identityIn(output: Buffer, name: string): ScannerIdentity {
  const { data } = TrivyVersion.safeParse(jsonOf(output.toString()))
  if (data === undefined) {
    throw failed(
      `${name} version did not write its version as JSON: correct --scanner-command, or set --scanner exec for a program that is not Trivy`,
    )
  }
  const { Version, VulnerabilityDB, CheckBundle } = data
  const checks = CheckBundle === undefined ? 'embedded checks' : `checks ${CheckBundle.Digest}`
  const database = VulnerabilityDB?.UpdatedAt
  return {
    scanner: `trivy ${Version}`,
    databases: { source: checks, binary: database, dependencies: database },
  }
}

type Results = NonNullable<z.infer<typeof TrivyReport>['Results']>

function resultsIn(output: Buffer, name: string): Results {
  const { data } = TrivyReport.safeParse(jsonIn(output, name))
  if (data === undefined) throw failed(`${name} did not write a report of SchemaVersion 2`)
  return data.Results ?? []
}

/** Types of results for one executable, whose Target is its path. */
const programTypes: ReadonlySet<string> = new Set(['gobinary', 'rustbinary'])

/** Names what Trivy cannot read, so that nothing is known about it; undefined if it has read everything. */
function unreadIn(
  results: Results,
  target: ScanTarget,
  executables: readonly string[],
): string | undefined {
  // A module may well have nothing to check.
  if (target === 'source') return undefined
  if (target === 'dependencies') {
    const isRead = results.some((result) => result.Class === 'lang-pkgs')
    return isRead ? undefined : 'go.mod and go.sum'
  }
  if (executables.length === 0) return 'the archive'
  // Packages beside an executable, such as those of Node, say nothing about it.
  const programs = results.filter(({ Type }) => programTypes.has(Type))
  const unread = executables.filter((path) => !programs.some(({ Target }) => Target === path))
  return unread.length === 0 ? undefined : printable(unread.join(', '), 200)
}

function findingsOf(results: Results): SecurityFinding[] {
  return results.flatMap(({ Target, Vulnerabilities, Misconfigurations }) => [
    ...Vulnerabilities.map((found) => ({
      vulnerabilityID: found.VulnerabilityID,
      pkgName: found.PkgName,
      installedVersion: found.InstalledVersion,
      fixedVersion: found.FixedVersion,
      severity: found.Severity,
      title: found.Title,
    })),
    ...Misconfigurations.filter(({ Status }) => Status === 'FAIL').map((found) => ({
      vulnerabilityID: found.ID,
      pkgName: found.CauseMetadata?.Resource || Target.replace(/^files\//, ''),
      installedVersion: '',
      severity: found.Severity,
      title: found.Title,
    })),
  ])
}
