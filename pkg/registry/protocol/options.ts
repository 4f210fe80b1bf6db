import type { Signer } from '../../archives/signing/signing.ts'
import type { Archives } from '../../archives/storage/storage.ts'
import type { Auth } from '../auth/auth.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DownloadCounter, DownloadEvent } from '../downloads/downloads.ts'
import type { Search } from '../search/search.ts'

export interface RegistryOptions {
  readonly catalog: Catalog
  /** The index of the catalog. Default: one of its own. */
  readonly search?: Search | undefined
  readonly archives: Pick<Archives, 'sizeOf' | 'inMemory' | 'open' | 'presign'>
  /** Decides who may see what. Default: everybody sees everything. */
  readonly auth?: Auth | undefined
  /** Absent if no signing key is configured. */
  readonly signer?: Signer | undefined
  /** External URL of the registry without a trailing slash; default: the host that the request names. */
  readonly baseUrl?: string | undefined
  /** Believe `X-Forwarded-Proto` and `X-Forwarded-Host`. */
  readonly trustProxy?: boolean
  /** Redirect downloads of modules too, if their storage says presign; default false: only those of providers. */
  readonly presignModules?: boolean
  /** Reads when downloads were counted. Default: nobody counts them. */
  readonly history?: DownloadCounter['hourly'] | undefined
  /** The time, in milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
  /** Called with each download as it begins; must neither wait nor throw. */
  readonly onDownload?: ((download: DownloadEvent) => void) | undefined
}
