import { type BigIntStats, constants, type Dirent } from 'node:fs'
import { open, readdir, realpath, stat, statfs } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { codeOf } from '../../base/errors/errors.ts'
import { eachLimited } from '../../base/pacing/pacing.ts'
import { newlinesIn } from './documents.ts'

/** The files below a folder. Paths are relative to it, with `/`, in order. */
export interface Listing {
  /** Changes when another folder replaces this one, as when a volume is unmounted. */
  readonly root: string
  /** Manifests, each with its {@link signatureOf}. */
  readonly files: ReadonlyMap<string, string>
  /** Existing files and folders that cannot be read. */
  readonly problems: ReadonlyMap<string, Error>
}

/** Maximum number of files behind one link, because a link to a whole disk must not block everything else. */
const maxBehindLink = 20_000

/** proc, sysfs, devpts, cgroup, cgroup2, debugfs, tracefs, securityfs, bpf: reading from them may never end. */
const kernelFileSystems = new Set([
  0x9fa0, 0x62656572, 0x1cd1, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11,
])

const manifest = /\.(?:ya?ml|json)$/i

/** Changes whenever the content of a file may have changed. */
export function signatureOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

/** When a file changed last, in milliseconds since 1970, from its signature. */
export function changedAtMs(signature: string): number {
  return Number(signature.slice(signature.lastIndexOf(':') + 1)) / 1e6
}

/** The part of a signature that a rename does not change. */
export function identityOf(signature: string): string {
  return signature.slice(0, signature.lastIndexOf(':'))
}

/** How often a folder is listed again because another one replaced it meanwhile. */
const maxWalks = 5

/**
 * Lists every manifest below a folder. If another folder replaces it meanwhile, as when a volume is mounted or a link is
 * moved, the list begins again, so that no file looks removed. Hidden names are left out, because they are swap files of
 * editors, and targets of the links of the kubelet. Links are followed, unless their target is found without them.
 *
 * @throws the error of the file system if the folder itself cannot be read
 */
export async function walk(dir: string): Promise<Listing> {
  for (let walks = 1; ; walks += 1) {
    const root = await realpath(dir)
    const identity = await folderAt(root)
    const listing = await new Walk(root).list()
    if ((await folderAt(dir)) === identity) return { root: identity, ...listing }
    if (walks === maxWalks) throw new Error('keeps being replaced; wait until it does not change')
  }
}

async function folderAt(path: string): Promise<string> {
  // The inode of a removed folder is soon given to another one.
  const { dev, ino, birthtimeNs } = await stat(path, { bigint: true })
  return `${dev}:${ino}:${birthtimeNs}`
}

/** One walk through a folder and the targets of its links. */
class Walk {
  readonly #root: string
  readonly #files: [path: string, signature: string][] = []
  readonly #problems = new Map<string, Error>()
  /** Targets of links. */
  readonly #followed = new Set<string>()
  /** Remaining number of files of the link that is being followed. */
  #budget = Number.POSITIVE_INFINITY

  constructor(root: string) {
    this.#root = root
  }

  async list(): Promise<Omit<Listing, 'root'>> {
    await this.#visitFolder('')
    const files = new Map(this.#files.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    return { files, problems: this.#problems }
  }

  async #visitFolder(folder: string): Promise<void> {
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true })
    this.#budget -= entries.length
    if (this.#budget < 0)
      throw new Error(`leads to more than ${maxBehindLink} files; link to a smaller folder`)
    const visible = entries
      .filter(({ name }) => !isHidden(name))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const plain = visible.filter((entry) => entry.isFile())
    await eachLimited(plain, 32, (entry) => this.#visit(folder, entry))
    // One after the other, so that the same one of several links to one place is always followed.
    for (const entry of visible) if (!entry.isFile()) await this.#visit(folder, entry)
  }

  async #visit(folder: string, entry: Dirent): Promise<void> {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const wanted = manifest.test(entry.name)
    if (entry.isFile() && !wanted) return
    try {
      if (entry.isSymbolicLink() && this.#isBehindLink && !wanted) return
      if (entry.isSymbolicLink()) await refuseKernel(join(this.#root, path))
      const stats = await stat(join(this.#root, path), { bigint: true })
      if (!stats.isDirectory() && !wanted) return
      if (entry.isSymbolicLink() && (await this.#isFoundElsewhere(path))) return
      if (stats.isDirectory() && entry.isSymbolicLink()) await this.#followLink(path)
      else if (stats.isDirectory()) await this.#visitFolder(path)
      else if (stats.isFile()) this.#files.push([path, signatureOf(stats)])
      else this.#problems.set(path, new Error('is not a regular file'))
    } catch (error) {
      if (isGone(error) && !entry.isSymbolicLink()) return
      if (isGone(error) && !wanted) return
      if (this.#budget < 0 && !entry.isSymbolicLink()) throw error
      this.#problems.set(path, isGone(error) ? new Error('is a link to nothing') : (error as Error))
    }
  }

  get #isBehindLink(): boolean {
    return this.#budget < Number.POSITIVE_INFINITY
  }

  /** Everything behind a link, or nothing of it. */
  async #followLink(path: string): Promise<void> {
    const found = this.#files.length
    this.#budget = maxBehindLink
    try {
      await this.#visitFolder(path)
    } catch (error) {
      this.#files.length = found
      throw error
    } finally {
      this.#budget = Number.POSITIVE_INFINITY
    }
  }

  async #isFoundElsewhere(link: string): Promise<boolean> {
    const target = await realpath(join(this.#root, link))
    if (isWithin(this.#root, target) || this.#followed.has(target)) return true
    this.#followed.add(target)
    return isWithin(target, this.#root) && !relative(this.#root, target).split(sep).some(isHidden)
  }
}

async function refuseKernel(path: string): Promise<void> {
  const { type } = await statfs(path)
  if (kernelFileSystems.has(type))
    throw new Error('is a link into a file system of the kernel, which has no manifests')
}

function isHidden(name: string): boolean {
  return name.startsWith('.')
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`)
}

export function isGone(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}

/** Larger files are refused. */
const maxFileBytes = 256 * 1024 * 1024

/** The text of a file, or the mistake that remains until the file changes. */
export type FileText =
  | { readonly text: string }
  | {
      readonly problem: string
      readonly reason: 'InvalidSyntax' | 'Unreadable'
      readonly line: number | undefined
    }

/**
 * Reads a file as text: UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it.
 *
 * @returns undefined if the file does not have this signature, or changes while it is read
 * @throws the error of the file system
 */
export async function readText(path: string, signature: string): Promise<FileText | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = await file.stat({ bigint: true })
  if (signatureOf(stats) !== signature) return undefined
  if (stats.size > maxFileBytes) {
    const problem = `is larger than ${maxFileBytes / 1024 / 1024} MiB; split it`
    return { problem, reason: 'Unreadable', line: undefined }
  }
  const bytes = await file.readFile()
  if (signatureOf(await file.stat({ bigint: true })) !== signature) return undefined
  return decodeText(bytes)
}

/** Decodes a manifest: UTF-8, or UTF-16 with a byte order mark. */
export function decodeText(bytes: Buffer): FileText {
  const encoding = encodingOf(bytes)
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes) }
  } catch {
    const text = new TextDecoder(encoding).decode(bytes)
    const line = newlinesIn(text.slice(0, text.indexOf('\uFFFD'))) + 1
    return { problem: `is not ${encoding.toUpperCase()} text`, reason: 'InvalidSyntax', line }
  }
}

function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const mark = bytes.subarray(0, 2).toString('hex')
  if (mark === 'fffe') return 'utf-16le'
  return mark === 'feff' ? 'utf-16be' : 'utf-8'
}
