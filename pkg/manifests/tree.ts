import type { BigIntStats, Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { eachLimited } from '../pacing/pacing.ts'

/** What is below a folder. Paths are relative to it, with `/`, in order. */
export interface Listing {
  /** Manifests, each with its {@link signatureOf}. */
  readonly files: ReadonlyMap<string, string>
  /** Files and folders that are there but cannot be looked at. */
  readonly problems: ReadonlyMap<string, Error>
}

const manifest = /\.(?:ya?ml|json)$/i

/** Changes whenever the content of a file may have changed. */
export function signatureOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

/** The part of a signature that stays when a file is renamed. */
export function identityOf(signature: string): string {
  return signature.slice(0, signature.lastIndexOf(':'))
}

/**
 * Lists every manifest below a folder. Hidden names are left out: editors keep their swap files there, and the kubelet
 * what its links point to. Links are followed, unless what they point to is found without them.
 *
 * @throws the error of the file system when the folder itself cannot be read
 */
export async function walk(dir: string): Promise<Listing> {
  const root = await realpath(dir)
  const files: [path: string, signature: string][] = []
  const problems = new Map<string, Error>()
  const followed = new Set<string>()

  const visitFolder = async (folder: string): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true })
    const visible = entries
      .filter(({ name }) => !isHidden(name))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const plain = visible.filter((entry) => entry.isFile())
    await eachLimited(plain, 32, (entry) => visit(folder, entry))
    // One after the other, so that of several links to one place it is always the same that is followed.
    for (const entry of visible) if (!entry.isFile()) await visit(folder, entry)
  }

  const visit = async (folder: string, entry: Dirent): Promise<void> => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const wanted = manifest.test(entry.name)
    if (entry.isFile() && !wanted) return
    try {
      const stats = await stat(join(root, path), { bigint: true })
      if (!stats.isDirectory() && !wanted) return
      if (entry.isSymbolicLink() && (await isFoundElsewhere(path))) return
      if (stats.isDirectory()) await visitFolder(path)
      else if (stats.isFile()) files.push([path, signatureOf(stats)])
      else problems.set(path, new Error('is not a regular file'))
    } catch (error) {
      if (isGone(error) && !entry.isSymbolicLink()) return
      if (isGone(error) && !wanted) return
      problems.set(path, isGone(error) ? new Error('is a link to nothing') : (error as Error))
    }
  }

  const isFoundElsewhere = async (link: string): Promise<boolean> => {
    const target = await realpath(join(root, link))
    if (isWithin(root, target) || followed.has(target)) return true
    followed.add(target)
    return isWithin(target, root) && !relative(root, target).split(sep).some(isHidden)
  }

  await visitFolder('')
  files.sort(([a], [b]) => (a < b ? -1 : 1))
  return { files: new Map(files), problems }
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

/** `EACCES` and the like. */
export function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
