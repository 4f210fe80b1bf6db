import { Turns } from '../pacing/pacing.ts'
import { Ending, endingOfStatus, undecodable } from './ending.ts'
import { LineSplitter } from './lines.ts'
import { isRecord, isText, metadataOf, type ObservedObject, observe } from './object.ts'
import { requestPath, type Target } from './target.ts'
import type { Timings } from './timings.ts'
import type { Transport } from './transport.ts'

/** etcd refuses objects of more than a few megabytes. */
const maxLineBytes = 64 * 1024 * 1024

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ObservedObject }
  | {
      readonly type: 'BOOKMARK'
      readonly resourceVersion: string
      /** True for the one that ends the initial events of a streamed list. */
      readonly initialEventsEnd: boolean
    }

export interface WatchOptions {
  readonly transport: Transport
  readonly target: Target
  readonly timings: Timings
  readonly random: () => number
  readonly signal: AbortSignal
  /** Where to go on; undefined: first everything there is, as ADDED events. */
  readonly resourceVersion: string | undefined
  /** Bytes have come. */
  readonly onContact: () => void
  /** @returns an Ending to stop here */
  readonly onEvent: (event: WatchEvent) => Ending | undefined
}

/** One watch request, to its end. */
export async function watch(options: WatchOptions): Promise<Ending> {
  const { transport, target, timings, random, signal, resourceVersion } = options
  const timeoutSeconds = Math.ceil(timings.watchMinSeconds * (1 + random()))
  const from =
    resourceVersion === undefined
      ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion }
  const path = requestPath(target, {
    watch: 1,
    allowWatchBookmarks: 'true',
    timeoutSeconds,
    ...from,
  })
  const deadlineMs = timeoutSeconds * 1000 + timings.watchGraceMs
  return transport.read({ path, signal, deadlineMs, idleMs: timings.idleMs }, async (body) => {
    const openedMs = performance.now()
    const events = await consume(body, options)
    if (events instanceof Ending) return events
    const short = events === 0 && performance.now() - openedMs < timings.shortWatchMs
    return short
      ? new Ending('short', 'the API server closed the watch at once')
      : new Ending('closed', 'the API server closed the watch')
  })
}

/** @returns how many events came until the server closed the stream */
async function consume(
  body: AsyncIterable<Buffer>,
  { onContact, onEvent }: WatchOptions,
): Promise<number | Ending> {
  const splitter = new LineSplitter()
  const turns = new Turns()
  let events = 0
  for await (const chunk of body) {
    onContact()
    for (const line of splitter.push(chunk)) {
      const event = decode(line)
      const ending = event instanceof Ending ? event : onEvent(event)
      if (ending !== undefined) return ending
      events += 1
      if (turns.due) await turns.yield()
    }
    if (splitter.pendingBytes > maxLineBytes) {
      return undecodable('size')
    }
  }
  if (splitter.pendingBytes > 0) return undecodable('truncated')
  return events
}

function decode(line: string): WatchEvent | Ending {
  let raw: unknown
  try {
    raw = JSON.parse(line)
  } catch (err) {
    return undecodable('json', err)
  }
  if (!isRecord(raw)) return undecodable('event')
  const { type, object } = raw
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const observed = observe(object)
      if (observed !== undefined) return { type, object: observed }
      return undecodable('metadata')
    }
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = metadataOf(object) ?? {}
      if (!isText(resourceVersion)) {
        return undecodable('metadata')
      }
      const end = isRecord(annotations) && annotations['k8s.io/initial-events-end'] === 'true'
      return { type, resourceVersion, initialEventsEnd: end }
    }
    case 'ERROR':
      return endingOfStatus(object)
    default:
      return undecodable('type', new Error(String(type).slice(0, 40)))
  }
}
