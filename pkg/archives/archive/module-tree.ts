import { posix } from 'node:path'
import { ArchiveError, quoted } from './limits.ts'
import type { Extent } from './scratch.ts'

/** A file of an archive. Its bytes are in the scratch file. */
export interface TreeFile extends Extent {
  readonly path: string
  readonly executable: boolean
}

export interface TreeLink {
  readonly path: string
  readonly target: string
}

const maxLinks = 10

/**
 * Replaces every link by a copy of its target.
 *
 * @throws ArchiveError UnsafeArchive if a link leads out of the archive, to a directory, in a circle or to nothing
 */
export function resolveLinks(files: readonly TreeFile[], links: readonly TreeLink[]): TreeFile[] {
  const fileAt = new Map(files.map((file) => [file.path, file]))
  const linkAt = new Map(links.map((link) => [link.path, link]))
  const copies = links.map((link) => {
    let at: TreeLink | undefined = link
    for (let followed = 0; followed < maxLinks; followed += 1) {
      const path = targetOf(at)
      const file = fileAt.get(path)
      if (file !== undefined) return { ...file, path: link.path }
      at = linkAt.get(path)
      if (at === undefined) throw unusable(link, 'which is not a file of this archive')
    }
    throw unusable(link, 'and on, through more than 10 links')
  })
  return [...files, ...copies]
}

function targetOf(link: TreeLink): string {
  const { path, target } = link
  const joined = posix.join(posix.dirname(path), target)
  const outside =
    target === '' || target.startsWith('/') || joined === '..' || joined.startsWith('../')
  if (outside || target.includes('\\')) throw unusable(link, 'which is outside of the archive')
  return joined
}

const unusable = ({ path, target }: TreeLink, why: string): ArchiveError =>
  new ArchiveError(
    'UnsafeArchive',
    `the link ${quoted(path)} leads to ${quoted(target)}, ${why}: replace it by the file`,
  )

/**
 * Files of a repository or working directory that are not part of the module: history, installed modules and providers,
 * states.
 */
export function isLeftOut(path: string): boolean {
  return path
    .toLowerCase()
    .split('/')
    .some((part) => part === '.git' || part === '.terraform' || part.includes('.tfstate'))
}

/**
 * Selects the files of the module: without a directory that wraps all of them, and only below a path.
 *
 * @throws ArchiveError NoModuleAtRoot
 */
export function moduleFiles(files: readonly TreeFile[], path: string | undefined): TreeFile[] {
  const unwrapped = withoutWrapper(files)
  const directory = (path ?? '')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
  const found = directory === '' ? unwrapped : below(unwrapped, directory)
  if (found.some((file) => isConfiguration(file.path))) return found
  // The path may name the wrapping directory, as addresses in registries do.
  const inWrapper = directory === '' ? [] : below(files, directory)
  if (inWrapper.some((file) => isConfiguration(file.path))) return inWrapper
  const where = directory === '' ? 'at the root of the archive' : `in ${quoted(directory)}`
  throw new ArchiveError(
    'NoModuleAtRoot',
    `there is no *.tf or *.tofu file ${where}: ${adviceFor(unwrapped, directory)}`,
  )
}

function withoutWrapper(files: readonly TreeFile[]): TreeFile[] {
  const wrapper = wrapperOf(files)
  return wrapper === undefined ? [...files] : below(files, wrapper)
}

/** The directory that contains all files; undefined if there is none. */
export function wrapperOf(files: readonly Pick<TreeFile, 'path'>[]): string | undefined {
  const [first] = files
  const wrapper = first?.path.includes('/') ? first.path.split('/')[0] : undefined
  if (wrapper === undefined || wrapper === '') return undefined
  return files.every((file) => file.path.startsWith(`${wrapper}/`)) ? wrapper : undefined
}

const below = (files: readonly TreeFile[], directory: string): TreeFile[] =>
  files
    .filter((file) => file.path.startsWith(`${directory}/`))
    .map((file) => ({ ...file, path: file.path.slice(directory.length + 1) }))

export const isConfiguration = (name: string): boolean =>
  /^[^/]+\.(?:tf|tofu)(?:\.json)?$/.test(name)

/** @param named the path where the module was expected; empty without one */
function adviceFor(files: readonly TreeFile[], named: string): string {
  const directories = files
    .filter(({ path }) => isConfiguration(posix.basename(path)))
    .map(({ path }) => posix.dirname(path))
  const [first, ...others] = Array.from(new Set(directories)).toSorted()
  if (first === undefined) {
    return 'there is none anywhere in it: name the folder or the repository of a module'
  }
  const more = others.length > 0 ? ` or ${quoted(others[0] ?? '')}` : ''
  const what =
    named === ''
      ? 'publish a directory that has one, or set the path of the source to it,'
      : 'set the path of the source to a directory that has one,'
  return `${what} such as ${quoted(first)}${more}`
}
