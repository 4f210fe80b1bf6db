import { isRecord, type JsonReader } from '../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../base/pacing/pacing.ts'
import { type ListTarget, requestPath } from './list-target.ts'
import { isText, metadataOf, type ObservedObject, observe } from './object.ts'
import { Outcome, undecodable } from './outcome.ts'
import type { Timings } from './timings.ts'
import type { Transport } from './transport.ts'

const firstLimit = 250
/** Metadata of an object takes about a kilobyte. */
const metadataLimit = 1_000
/** Size of a page that is parsed without blocking for long. Larger pages are requested in parts. */
const goodPageBytes = 2 * 1024 * 1024
const maxPageBytes = 64 * 1024 * 1024
const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

export interface ListOptions {
  readonly transport: Transport
  readonly target: ListTarget
  readonly timings: Timings
  readonly signal: AbortSignal
  readonly json: JsonReader
  /** Bytes have arrived. */
  readonly onContact: () => void
  readonly onItem: (object: ObservedObject) => void
  /** Lists only metadata of objects, as of this resourceVersion. Default: whole objects, as of now. */
  readonly asOf?: string
}

/**
 * Lists everything, page by page, as of one moment. It sends no resourceVersion: with one, an API server answers from its
 * cache and ignores the limit.
 *
 * @returns the resourceVersion to watch from
 */
export async function list(options: ListOptions): Promise<{ resourceVersion: string } | Outcome> {
  const turns = new Turns()
  let limit = options.asOf === undefined ? firstLimit : metadataLimit
  let next = ''
  for (;;) {
    const page = await readPage(options, limit, next)
    if (page instanceof Outcome) return page
    if (page === 'large') {
      limit = Math.max(1, Math.floor(limit / 5))
      continue
    }
    for (const raw of page.items) {
      const object = observe(raw)
      if (object === undefined) {
        return undecodable('NoMetadata')
      }
      options.onItem(object)
      if (turns.due) await turns.yield()
    }
    if (page.next === '') return { resourceVersion: page.resourceVersion }
    next = page.next
    await turns.yield()
  }
}

interface Page {
  readonly items: readonly unknown[]
  readonly resourceVersion: string
  /** Token of the next page; empty if there is none. */
  readonly next: string
}

async function readPage(
  { transport, target, timings, signal, json, onContact, asOf }: ListOptions,
  limit: number,
  next: string,
): Promise<Page | 'large' | Outcome> {
  const exactly = asOf !== undefined && { resourceVersion: asOf, resourceVersionMatch: 'Exact' }
  const path = requestPath(target, { limit, ...(next === '' ? exactly : { continue: next }) })
  const { pageMs: deadlineMs, headersMs: idleMs } = timings
  const accept = asOf === undefined ? undefined : metadataOnly
  return transport.read({ path, accept, signal, deadlineMs, idleMs }, async (body) => {
    const maxBytes = limit > 1 ? goodPageBytes : maxPageBytes
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body) {
      onContact()
      bytes += chunk.length
      if (bytes > maxBytes) {
        return limit > 1 ? 'large' : undecodable('ObjectTooLarge')
      }
      chunks.push(chunk)
    }
    return parsePage(json, Buffer.concat(chunks).toString())
  })
}

function parsePage(json: JsonReader, text: string): Page | Outcome {
  let raw: unknown
  try {
    raw = json.parse(text)
  } catch (err) {
    return undecodable('NotJson', err)
  }
  const { resourceVersion, continue: next } = metadataOf(raw) ?? {}
  // Go writes an empty list of typed objects as null.
  const items = isRecord(raw) ? (raw['items'] ?? []) : undefined
  if (!Array.isArray(items) || !isText(resourceVersion)) {
    return undecodable('NoItems')
  }
  return { items, resourceVersion, next: isText(next) ? next : '' }
}
