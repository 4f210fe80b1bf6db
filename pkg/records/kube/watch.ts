import { isRecord, type JsonReader } from '../../api/v1alpha1/v1alpha1.ts'
import { type Random, Turns } from '../../base/pacing/pacing.ts'
import { type ListTarget, requestPath } from './list-target.ts'
import { isText, metadataOf, type ObservedObject, observe } from './object.ts'
import { Outcome, outcomeOfStatus, undecodable } from './outcome.ts'
import type { Timings } from './timings.ts'
import type { Transport } from './transport.ts'

/** etcd refuses objects of more than a few megabytes. */
const maxLineBytes = 64 * 1024 * 1024

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ObservedObject }
  | {
      readonly type: 'BOOKMARK'
      readonly resourceVersion: string
      /** Whether the bookmark ends the initial events of a streamed list. */
      readonly initialEventsEnd: boolean
    }

export interface WatchOptions {
  readonly transport: Transport
  readonly target: ListTarget
  readonly timings: Timings
  readonly random: Random
  readonly signal: AbortSignal
  readonly json: JsonReader
  /** Start of the watch; undefined to get all objects first, as ADDED events. */
  readonly resourceVersion: string | undefined
  /** Bytes have arrived. */
  readonly onContact: () => void
  /** @returns an Outcome to stop here */
  readonly onEvent: (event: WatchEvent) => Outcome | undefined | Promise<Outcome | undefined>
}

/** One watch request, until its end. */
export async function watch(options: WatchOptions): Promise<Outcome> {
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
    const outcome = await consume(body, options)
    if (outcome !== undefined) return outcome
    const openMs = performance.now() - openedMs
    const isDue = openMs >= timeoutSeconds * 900 && openMs <= deadlineMs
    return isDue
      ? new Outcome('StreamClosed', 'the API server closed the watch')
      : new Outcome('StreamTooShort', 'the watch was closed before its time')
  })
}

/** @returns the cause of the end; undefined if the server closed the stream */
async function consume(
  body: AsyncIterable<Buffer>,
  { json, onContact, onEvent }: WatchOptions,
): Promise<Outcome | undefined> {
  const splitter = new LineSplitter()
  const turns = new Turns()
  for await (const chunk of body) {
    onContact()
    for (const line of splitter.push(chunk)) {
      const event = decode(json, line)
      const answer = event instanceof Outcome ? event : onEvent(event)
      const outcome = answer instanceof Promise ? await answer : answer
      if (outcome !== undefined) return outcome
      if (turns.due) await turns.yield()
    }
    if (splitter.pendingBytes > maxLineBytes) {
      return undecodable('ObjectTooLarge')
    }
  }
  if (splitter.pendingBytes > 0) return undecodable('Truncated')
  return undefined
}

function decode(json: JsonReader, line: string): WatchEvent | Outcome {
  let raw: unknown
  try {
    raw = json.parse(line)
  } catch (err) {
    return undecodable('NotJson', err)
  }
  if (!isRecord(raw)) return undecodable('NotAnEvent')
  const { type, object } = raw
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const observed = observe(object)
      if (observed !== undefined) return { type, object: observed }
      return undecodable('NoMetadata')
    }
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = metadataOf(object) ?? {}
      if (!isText(resourceVersion)) {
        return undecodable('NoMetadata')
      }
      const end = isRecord(annotations) && annotations['k8s.io/initial-events-end'] === 'true'
      return { type, resourceVersion, initialEventsEnd: end }
    }
    case 'ERROR':
      return outcomeOfStatus(object)
    default:
      return undecodable('UnknownEventType', new Error(String(type).slice(0, 40)))
  }
}

const newline = 10

/**
 * Splits a stream of bytes into lines. Only whole lines become text, so a character that is split over two chunks stays
 * intact.
 */
class LineSplitter {
  #parts: Buffer[] = []
  #bytes = 0

  /** Bytes of the incomplete line. */
  get pendingBytes(): number {
    return this.#bytes
  }

  /** The lines that a chunk completes, without empty ones. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#complete(chunk.subarray(start, end))
      if (line !== '') yield line
      start = end + 1
    }
    if (start === chunk.length) return
    this.#parts.push(chunk.subarray(start))
    this.#bytes += chunk.length - start
  }

  #complete(last: Buffer): string {
    if (this.#parts.length === 0) return last.toString()
    const line = Buffer.concat([...this.#parts, last]).toString()
    this.#parts = []
    this.#bytes = 0
    return line
  }
}
