import { mkdirSync, rmdirSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { codeOf } from '../../../base/errors/errors.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { RecentEvents } from '../events.ts'
import { refOf } from '../memory.ts'
import type { FolderObjects, Notes } from '../types.ts'
import { lineOf } from './rejection-line.ts'
import { FolderState } from './state.ts'
import { writeFile } from './write-file.ts'

export interface FolderObjectsOptions {
  /** Every `*.yaml`, `*.yml` and `*.json` below it is read. Created objects are written below it. */
  readonly dir: string
  readonly apiGroup: string
  /** Follow later changes of files. */
  readonly watch: boolean
  readonly log: Logger
  /** Default: Date.now. */
  readonly clock?: Clock
  /** Time without changes in the folder after which absent objects are removed, in milliseconds. Default: 10,000. */
  readonly restMs?: number
}

const defaultRestMs = 10_000

/**
 * The objects of a folder of manifests. Files that people wrote stay unchanged: their statuses are in separate files, such as
 * `vpc.status.yaml`. Created objects are in separate files with their status, such as `versions/team/network-1-0-0.yaml`. All
 * of it is what `depot server --manifests` serves. Two processes must not write to one folder, so take the lock of
 * pkg/base/folderlock first.
 *
 * @returns when everything is in memory
 * @throws the error of the file system if the folder cannot be read
 */
export async function folderObjects(options: FolderObjectsOptions): Promise<FolderObjects> {
  const { apiGroup, clock = Date.now, restMs = defaultRestMs } = options
  const log = options.log.child({ component: 'objects' })
  const state = new FolderState({ dir: resolve(options.dir), apiGroup, restMs, log, clock })
  const events = new RecentEvents(clock)
  const { rejections } = state.scanner
  await state.load()
  const close = options.watch ? state.scanner.follow() : async () => undefined

  return {
    namespaces: undefined,
    isFolder: true,
    unreadable: () => rejections.unreadable(),
    mistakes: () => Array.from(rejections.all(), lineOf),
    orphans: () => (rejections.unreadable() === undefined ? state.owners.orphans() : []),
    settled: () => state.owners.settled(),
    waitsForFinalizers: (object) => state.files.isOwn(refOf(object)),
    get: (kind, namespace, name) => state.shown.memory.get(kind, namespace, name),
    list: (kind, filter) => state.shown.memory.list(kind, filter),
    onChange: (listener) => state.shown.memory.onChange(listener),
    ready: Promise.resolve(),
    fresh: (kind, namespace, name) => state.fresh({ kind, namespace, name }),
    apply: (object) => state.apply(object),
    create: (object) => state.create(object),
    patch: (ref, patch, given) => state.patch(ref, patch, given?.resourceVersion),
    writeStatus: (object, status, given) =>
      state.writeStatus(object, status, given?.isProgress === true),
    delete: (ref, given) => state.delete(ref, given),
    mend: (object, isProven) => state.mending.mend(object, isProven),
    writeReadme: (version, texts) => state.writeReadme(version, texts),
    hasReadme: (version, keys) => state.files.hasReadme(refOf(version), keys),
    event(event) {
      if (!events.isNews(event)) return
      const { object, type, reason, note } = event
      const { namespace, name } = object.metadata
      log[type === 'Warning' ? 'warn' : 'info'](
        { kind: object.kind, namespace, name, reason, note },
        'event',
      )
    },
    secret: async (namespace, name) => state.secret(namespace, name),
    notes: folderNotes(resolve(options.dir)),
    close,
  }
}

/** Notes in files of a hidden folder, which is not read as manifests. */
function folderNotes(dir: string): Notes {
  const folder = join(dir, '.depot-removals')
  const fileOf = (key: string) => join(folder, `${key}.json`)
  return {
    async all() {
      const names = await readdir(folder).catch(noneIfMissing)
      const keys = names
        .filter((name) => /^[^.].*\.json$/.test(name))
        .map((name) => name.slice(0, -'.json'.length))
      const notes = new Map<string, string>()
      for (const key of keys) notes.set(key, await readFile(fileOf(key), 'utf8'))
      return notes
    },
    async put(key, text) {
      mkdirSync(folder, { recursive: true })
      await writeFile(fileOf(key), text)
    },
    async drop(key) {
      await rm(fileOf(key), { force: true })
      try {
        rmdirSync(folder)
      } catch {
        // The file has other notes.
      }
    },
  }
}

function noneIfMissing(error: unknown): string[] {
  if (codeOf(error) === 'ENOENT') return []
  throw error
}
