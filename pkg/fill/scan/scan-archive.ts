import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecurityFinding, Version } from '../../api/v1alpha1/v1alpha1.ts'
import { ArchiveError, type LimitsByKind, unpack } from '../../archives/archive/archive.ts'
import type { Spool, SpoolFile } from '../../archives/spool/spool.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import { codeOf, messageOf } from '../../base/errors/errors.ts'
import type { Objects } from '../../records/store/store.ts'
import { readStored, storedPlaceOf } from '../sync/sync.ts'
import { type ScanPart, storedPart } from './part.ts'
import type { ArchiveScanner, ScannerIdentity, ScanTarget } from './scanner.ts'
import { failed, runScanner } from './scanner-process.ts'

export interface ArchiveScanning {
  readonly objects: Objects
  readonly archives: ArchiveStore
  readonly spool: Spool
  readonly limits: LimitsByKind
  readonly scanner: ArchiveScanner
  /** Folder for unpacked archives. */
  readonly workDir: string
  readonly deadlineMs: number
  /** Whether providers are scanned too. */
  readonly scansProviders: boolean
  /** Whether scans must reach nothing. */
  readonly isOffline: boolean
}

/** Codes of a disk that takes no more. */
const diskCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'])
const maxOutputBytes = 64 * 1024 * 1024

/** The file of a Version that is scanned, and how. */
export interface ScanSubject {
  readonly version: Version
  readonly part: ScanPart
  readonly identity: ScannerIdentity
}

export interface ScannedFile {
  readonly sha256: string
  readonly findings: SecurityFinding[]
}

export interface ScanSteps<R> {
  /** Whether an archive of this digest needs no scan. */
  readonly isKnown: (sha256: string) => boolean
  /** Scans the copy, or takes the result of a scan of the same bytes. */
  readonly finish: (scan: () => Promise<ScannedFile>) => Promise<R>
}

/**
 * Copies an archive of a Version from storage, checks its digest, unpacks it into a folder of its own, and scans that.
 *
 * @returns undefined if it needs no scan
 * @throws ScanError, FillError or RegistryError
 */
export async function scanArchive<R>(
  scanning: ArchiveScanning,
  { version, part, identity }: ScanSubject,
  { isKnown, finish }: ScanSteps<R>,
  signal: AbortSignal,
): Promise<R | undefined> {
  const { fileName = '', sha256: expected } = storedPart(version, part) ?? {}
  const { place } = storedPlaceOf(scanning, version)
  const stored = await nameFullDisk(readStored(scanning, place, fileName, { signal }))
  // One message for both: a Version may name a place of another tenant, whose digests are secrets.
  const absent = () => failed(`storage has no archive ${fileName} with the digest of this Version`)
  if (stored === undefined) throw absent()
  const { reserved, sha256 } = stored
  try {
    if (sha256 !== (expected ?? sha256)) throw absent()
    if (isKnown(sha256)) return undefined
    const subject = { reserved, target: part.target, identity, signal }
    const scan = async () => ({ sha256, findings: await scanCopy(scanning, subject) })
    return await finish(() => nameFullDisk(scan()))
  } finally {
    await reserved.remove()
  }
}

/** @throws ScanError if the disk takes no more */
async function nameFullDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const code = codeOf(error)
    if (!diskCodes.has(code)) throw error
    const message = `--work-dir cannot be written (${code}): it needs room for the largest archive and two copies of its content`
    throw failed(message, error)
  }
}

interface CopySubject {
  readonly reserved: SpoolFile
  readonly target: ScanTarget
  readonly identity: ScannerIdentity
  readonly signal: AbortSignal
}

/** Scans a copy, and removes it as soon as it is unpacked. */
function scanCopy(
  { workDir, scanner, limits, deadlineMs, isOffline }: ArchiveScanning,
  { reserved, target, identity, signal }: CopySubject,
): Promise<SecurityFinding[]> {
  return inFolder(workDir, async ({ folder, home }) => {
    await unpack({
      file: reserved.path,
      limits: limits[target === 'binary' ? 'provider' : 'module'],
      scratch: `${reserved.path}.scratch`,
      into: folder,
      // Scanners skip executables that nobody may execute. Nothing here is ever run.
      mode: target === 'binary' ? 0o500 : 0o400,
      signal,
    }).catch((error: unknown) => {
      if (!(error instanceof ArchiveError)) throw error
      throw failed(`the archive cannot be unpacked: ${error.message}`, error)
    })
    await reserved.remove()
    const executables = (await readdir(folder)).filter(isExecutable)
    await scanner.prepare?.(target, folder)
    const args = scanner.argumentsFor(target, folder, identity)
    const run = { args, home, deadlineMs, isOffline, maxOutputBytes, signal }
    const output = await runScanner({ ...run, command: scanner.command })
    return scanner.findingsIn(output, target, executables)
  })
}

/** Terraform starts a file at the top of the archive with such a name. */
const isExecutable = (name: string): boolean => name.startsWith('terraform-provider-')

interface ScanFolders {
  /** The unpacked archive, alone in its parent. */
  readonly folder: string
  /** Folder for files of the scanner. */
  readonly home: string
}

/** Scans that use a work folder now. */
const running = new Map<string, number>()

/** A scan has folders of its own. After the last scan, also what scanners wrote outside of theirs is removed. */
async function inFolder<T>(
  workDir: string,
  work: (folders: ScanFolders) => Promise<T>,
): Promise<T> {
  const own = join(workDir, crypto.randomUUID())
  const folders = { folder: join(own, 'archive/files'), home: join(own, 'home') }
  running.set(workDir, (running.get(workDir) ?? 0) + 1)
  try {
    for (const path of Object.values(folders)) await mkdir(path, { recursive: true, mode: 0o700 })
    return await work(folders)
  } finally {
    // What cannot be removed is reported at the next start.
    await remove(own).catch(() => undefined)
    const left = (running.get(workDir) ?? 1) - 1
    running.set(workDir, left)
    if (left === 0) await emptyFolder(workDir)
  }
}

/**
 * Removes what is in a folder: also what a process that was killed left there.
 *
 * @returns why something could not be removed
 */
export async function emptyFolder(path: string): Promise<readonly string[]> {
  const problems: string[] = []
  for (const name of await readdir(path)) {
    await remove(join(path, name)).catch((error: unknown) => problems.push(messageOf(error)))
  }
  return problems
}

async function remove(path: string): Promise<void> {
  const remover = () => rm(path, { recursive: true, force: true, maxRetries: 3 })
  await remover().catch(async () => {
    await openFolders(path)
    await remover()
  })
}

/** A scanner can leave folders that even their owner may not change. */
async function openFolders(path: string): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(path, entry.name))
  }
}
