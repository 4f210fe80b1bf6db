import { notFound } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Auth, Publishers } from '../auth/auth.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DocsStorage } from '../documentation/documentation.ts'
import type { DownloadCounter } from '../downloads/downloads.ts'
import { Search } from '../search/search.ts'
import { FirstSeen } from './first-seen.ts'

/** READMEs in memory, by the ConfigMap that holds them. */
interface ReadmeReader {
  /** Counts changes. */
  readonly revision: number
  /** Undefined if there is none, it was not read yet, or the Version may not show it. */
  get(namespace: string, configMap: string, key: string, version: string): string | undefined
}

export interface BrowseOptions {
  readonly catalog: Catalog
  /** Decides what callers may see. Default: everything. */
  readonly auth?:
    | (Pick<Auth, 'mode' | 'viewOf' | 'now'> & {
        readonly publishers: Pick<Publishers, 'mayPublish'>
      })
    | undefined
  /** Default: none. */
  readonly readmes?: ReadmeReader | undefined
  /** Storage that has the documentation of modules. Default: none. */
  readonly archives?: DocsStorage | undefined
  /** The index of the catalog. Default: one of its own. */
  readonly search?: Search | undefined
  /** The hours of the last 90 days with downloads of a resource: of all its versions, and of each given one. Default: none. */
  readonly history?: DownloadCounter['hourly'] | undefined
  /** Reads the consumers of a resource. Default: consumers are not recorded. */
  readonly consumers?: DownloadCounter['consumers'] | undefined
  /** Default: Date.now. */
  readonly clock?: Clock | undefined
}

const noReadmes: ReadmeReader = { revision: 0, get: () => undefined }

const noArchives: DocsStorage = {
  inMemory: () => undefined,
  open: () => Promise.reject(notFound('this server reads no archives')),
}

export type AnswerSources = ReturnType<typeof sourcesOf>

export function sourcesOf({
  catalog,
  readmes = noReadmes,
  archives = noArchives,
  search = new Search(catalog),
  history = () => Promise.resolve([]),
  consumers = () => Promise.resolve([]),
  clock = Date.now,
}: BrowseOptions) {
  const firstSeen = new FirstSeen(clock)
  return { catalog, readmes, archives, search, history, consumers, clock, firstSeen }
}
