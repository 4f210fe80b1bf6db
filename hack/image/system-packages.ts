import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/* The Debian packages of a base without a package manager, which lists them in /var/lib/dpkg/status.d. */

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
