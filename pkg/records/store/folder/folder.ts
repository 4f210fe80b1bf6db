import { resolve } from 'node:path'
import { watch } from 'chokidar'
import { messageOf } from '../../../base/errors/errors.ts'
import { type Clock, Loop } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { RecentEvents } from '../events.ts'
import type { Objects } from '../types.ts'
import { FolderState } from './state.ts'

export interface FolderObjectsOptions {
  /** Every `*.yaml`, `*.yml` and `*.json` below it is read; what is made is written below it. */
  readonly dir: string
  readonly apiGroup: string
  /** Whether changes that people make later are followed. */
  readonly watch: boolean
  readonly log: Logger
  /** Default: Date.now. */
  readonly clock?: Clock
}

/** Several events that belong together cause one scan. */
const debounceMs = 50
/** Events may get lost. */
const scanEveryMs = 10_000

/**
 * The objects of a folder of manifests. What people wrote stays where they wrote it, comments included, and gets a status
 * there; what is made stands in a file of its own, such as `versions/team/network-1-0-0.yaml`. All of it is what
 * `depot server --manifests` serves. Changes of one process are seen by another, but two must not write to one folder: take the lock of pkg/records/folderlock first.
 *
 * @returns when everything is in memory
 * @throws the error of the file system where the folder cannot be read
 */
export async function folderObjects(options: FolderObjectsOptions): Promise<Objects> {
  const { apiGroup, clock = Date.now } = options
  const dir = resolve(options.dir)
  const log = options.log.child({ component: 'objects' })
  const state = new FolderState({ dir, apiGroup, log, clock })
  const events = new RecentEvents(clock)
  await state.scan()
  const close = options.watch ? follow(dir, state, log) : async () => undefined

  return {
    namespaces: undefined,
    unreadable: () => state.unreadable(),
    get: (kind, namespace, name) => state.memory.get(kind, namespace, name),
    list: (kind, filter) => state.memory.list(kind, filter),
    onChange: (listener) => state.memory.onChange(listener),
    ready: Promise.resolve(),
    async fresh(kind, namespace, name) {
      return state.fresh({ kind, namespace, name })
    },
    apply: (object) => state.apply(object),
    patch: (ref, patch, given) => state.patch(ref, patch, given?.resourceVersion),
    writeStatus: (object, status) => state.writeStatus(object, status),
    delete: (ref, given) => state.delete(ref, given?.uid),
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
    close,
  }
}

/** @returns what ends it */
function follow(dir: string, state: FolderState, log: Logger): () => Promise<void> {
  const loop = new Loop(async () => {
    try {
      return (await state.scan()) ?? scanEveryMs
    } catch (err) {
      log.warn({ err, error: messageOf(err) }, 'the folder of manifests could not be read')
      return scanEveryMs
    }
  })
  const watcher = watch(dir, { ignoreInitial: true, followSymlinks: false, ignored: isHidden(dir) })
  watcher.on('all', () => loop.schedule(debounceMs))
  watcher.on('error', (err) => log.warn({ err }, 'watching failed, changes may take longer'))
  loop.schedule(scanEveryMs)
  return async () => {
    await Promise.all([watcher.close(), loop.close()])
  }
}

function isHidden(dir: string): (path: string) => boolean {
  return (path) => path !== dir && /\/\.[^/]*$/.test(path)
}
