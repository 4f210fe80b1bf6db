import { isRecord, type JsonReader } from '../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../base/pacing/pacing.ts'
import { type ListTarget, requestPath } from './list-target.ts'
import { isText, metadataOf, type ObservedObject, observe } from './object.ts'
import { Outcome, undecodable } from './outcome.ts'
import type { Timings } from './timings.ts'
import type { Transport } from './transport.ts'

const firstLimit = 250
/** Size of a page that is parsed without blocking for long; larger pages are requested in parts. */
const goodPageBytes = 2 * 1024 * 1024
const maxPageBytes = 64 * 1024 * 1024

export interface ListOptions {
  readonly transport: Transport
  readonly target: ListTarget
  readonly timings: Timings
  readonly signal: AbortSignal
  readonly json: JsonReader
  /** Bytes have come. */
  readonly onContact: () => void
  readonly onItem: (object: ObservedObject) => void
}

/**
 * Everything there is, page by page, as of one moment. No resourceVersion is asked for: with one, an API server answers
 * from its cache and ignores the limit.
 *
 * @returns the resourceVersion to watch from
 */
export async function list(options: ListOptions): Promise<{ resourceVersion: string } | Outcome> {
  const turns = new Turns()
  let limit = firstLimit
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

/** The resourceVersion that the API server is at now, by its own consistent read. */
export async function newestVersion(
  options: Omit<ListOptions, 'onItem'>,
): Promise<string | Outcome> {
  const page = await readPage({ ...options, onItem: () => undefined }, 1, '')
  if (page === 'large') return undecodable('ObjectTooLarge')
  return page instanceof Outcome ? page : page.resourceVersion
}

interface Page {
  readonly items: readonly unknown[]
  readonly resourceVersion: string
  /** Token of the page that follows; empty: none. */
  readonly next: string
}

async function readPage(
  { transport, target, timings, signal, json, onContact }: ListOptions,
  limit: number,
  next: string,
): Promise<Page | 'large' | Outcome> {
  const path = requestPath(target, { limit, ...(next !== '' && { continue: next }) })
  const { pageMs: deadlineMs, headersMs: idleMs } = timings
  return transport.read({ path, signal, deadlineMs, idleMs }, async (body) => {
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
