import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { type ProviderPage, StoredPages } from '../../api/docs/docs.ts'
import type { PackedDocs } from './packed-docs.ts'

const gzip = promisify(zlib.gzip)
const gunzip = promisify(zlib.gunzip)

/*
 * The file is one JSON array, compressed in pieces that can be read alone: the size of the compressed list, the list of
 * pages, and each page. So reading a page only costs the list and the page, however many there are.
 */

const digits = 10
/** An array begins with a number of ten digits, stored without compression: with header and trailer of gzip. */
const headBytes = 10 + 5 + (1 + digits) + 8
const maxListBytes = 16 * 1024 * 1024

/** Limit of the documentation of a provider: its pages as text, and packed. */
export const maxPagesBytes = 20 * 1024 * 1024

interface Page {
  readonly page: ProviderPage
  readonly markdown: string
}

export async function packPages(pages: readonly Page[], leftOut: number): Promise<PackedDocs> {
  const bodies: Buffer[] = []
  for (const { markdown } of pages) bodies.push(await gzip(`,${JSON.stringify(markdown)}`))
  let at = 0
  const placed = pages.map(({ page }, index) => {
    const sizeBytes = bodies[index]?.length ?? 0
    at += sizeBytes
    return { page, at: at - sizeBytes, sizeBytes }
  })
  const list: StoredPages = { schema: 1, pages: placed, leftOut }
  const packedList = await gzip(`,${JSON.stringify(list)}`)
  const head = await gzip(`[${String(packedList.length).padStart(digits)}`, { level: 0 })
  const bytes = Buffer.concat([head, packedList, ...bodies, await gzip(']')])
  return { bytes, sha256: hash('sha256', bytes), sizeBytes: bytes.length }
}

/** @throws Error if it is not the documentation of a provider */
export async function unpackPages(bytes: Uint8Array): Promise<StoredPages> {
  const list = await piece(listBytes(bytes), maxListBytes)
  return StoredPages.parse(list)
}

/** @throws Error if it is not the documentation of a provider */
export async function unpackPage(
  bytes: Uint8Array,
  { at, sizeBytes }: Pick<StoredPages['pages'][number], 'at' | 'sizeBytes'>,
): Promise<string> {
  const start = headBytes + listBytes(bytes).length + at
  return String(await piece(bytes.subarray(start, start + sizeBytes), maxPagesBytes))
}

function listBytes(bytes: Uint8Array): Uint8Array {
  const head = zlib.gunzipSync(bytes.subarray(0, headBytes), { maxOutputLength: 1 + digits })
  return bytes.subarray(headBytes, headBytes + Number(head.toString().slice(1)))
}

async function piece(packed: Uint8Array, maxOutputLength: number): Promise<unknown> {
  const text = await gunzip(packed, { maxOutputLength })
  return JSON.parse(text.toString().slice(1))
}
