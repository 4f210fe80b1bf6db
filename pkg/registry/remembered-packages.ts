import type { Parent, ResourceRow, VersionRow } from '../catalog/catalog.ts'
import type { Signer } from './ports.ts'
import { encodeOnce } from './respond.ts'

interface Remembered {
  readonly resource: ResourceRow | undefined
  readonly baseUrl: string
  readonly revision: number
  readonly metadata: string | Uint8Array
}

/**
 * Package metadata is the same for everybody who comes by the same URL, and mostly a key: it is kept for the platforms
 * that are asked for most recently.
 *
 * @param capacity platforms, of some 5 kB each
 */
export function rememberPackages(capacity = 1000) {
  const packages = new Map<VersionRow, Remembered>()
  return (
    provider: Parent,
    row: VersionRow,
    baseUrl: string,
    signer: Signer,
    make: () => string,
  ): string | Uint8Array => {
    const { resource } = provider
    const { revision } = signer
    const known = packages.get(row)
    if (
      known !== undefined &&
      known.resource === resource &&
      known.baseUrl === baseUrl &&
      known.revision === revision
    ) {
      return known.metadata
    }
    const metadata = encodeOnce(make())
    packages.delete(row)
    const [oldest] = packages.keys()
    if (packages.size >= capacity && oldest !== undefined) packages.delete(oldest)
    packages.set(row, { resource, baseUrl, revision, metadata })
    return metadata
  }
}
