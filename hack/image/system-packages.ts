import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * The contents of a base without a package manager: Node, Debian packages, which it lists in /var/lib/dpkg/status.d, and the Go
 * modules of Trivy, where it has that.
 */

export type SystemPackage = {
  readonly name: string
  readonly version: string
  readonly architecture: string
}

const field = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1]

/** Reads a folder of control files; distroless has a list of checksums next to each. */
export function systemPackages(folder: string): SystemPackage[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => !file.endsWith('.md5sums'))
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const name = field(text, 'Package')
      const version = field(text, 'Version')
      const architecture = field(text, 'Architecture')
      return name && version && architecture ? [{ name, version, architecture }] : []
    })
}

export type GoModule = { readonly name: string; readonly version: string }

/** Reads a list with a line `name@version` for each module. */
export function goModules(file: string): GoModule[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', version = ''] = line.split('@')
      return { name, version }
    })
}

/** Node of a base, which may be for another platform than this one. */
export type NodeBinary = { readonly version: string; readonly sha256: string }

/** Reads the version from the address of the release that every build of Node contains. */
export function nodeOf(file: string): NodeBinary {
  const bytes = readFileSync(file)
  const release = 'https://nodejs.org/download/release/v'
  const begin = bytes.indexOf(release) + release.length
  const [version] = /^\d+\.\d+\.\d+(?=\/)/.exec(bytes.toString('latin1', begin, begin + 20)) ?? []
  if (version === undefined) throw new Error(`${file} is not a release of Node`)
  return { version, sha256: createHash('sha256').update(bytes).digest('hex') }
}
