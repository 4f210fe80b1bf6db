import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { parse } from 'yaml'
import { type PageCategory, type ProviderPage, StoredPages } from '../../api/docs/docs.ts'
import { printable } from '../../base/errors/errors.ts'
import type { PackedDocs } from './read-docs.ts'

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

async function packPages(pages: readonly Page[], leftOut: number): Promise<PackedDocs> {
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

const maxPages = 3_000
const maxPageBytes = 256 * 1024
const cutNote = `\n\n*The rest of this page is left out: it has more than ${maxPageBytes / 1024} KiB.*\n`

interface Collected extends PagePlace {
  readonly chunks: Uint8Array[]
  sizeBytes: number
}

/** Collects the pages of a provider's documentation while the files of a release are read. */
export class PageCollector {
  readonly #pages = new Map<string, Collected>()
  #leftOut = 0
  #sizeBytes = 0

  /**
   * Accepts a file if it is a page.
   *
   * @param path below the root of the release
   * @returns a consumer of the bytes; undefined to skip them
   */
  readonly take = (path: string): ((chunk: Uint8Array) => void) | undefined => {
    const place = pagePlaceOf(path)
    if (place === undefined) return undefined
    const key = typeof place === 'object' ? `${place.isOld} ${place.category} ${place.slug}` : ''
    if (place === 'unusable' || this.#pages.has(key) || this.#pages.size === maxPages) {
      this.#leftOut += 1
      return undefined
    }
    const page: Collected = { ...place, chunks: [], sizeBytes: 0 }
    this.#pages.set(key, page)
    return (chunk) => {
      const room = Math.min(maxPageBytes + 1 - page.sizeBytes, maxPagesBytes - this.#sizeBytes)
      const taken = chunk.subarray(0, room)
      if (taken.length > 0) page.chunks.push(Uint8Array.from(taken))
      page.sizeBytes += chunk.length
      this.#sizeBytes += taken.length
    }
  }

  /** @returns undefined if there were no pages, unless an empty list is wanted, too */
  async packed({ isEmptyToo = false } = {}): Promise<PackedDocs | undefined> {
    const all = [...this.#pages.values()]
    const news = all.filter(({ isOld }) => !isOld)
    const pages = (news.length > 0 ? news : all).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    if (pages.length + this.#leftOut === 0 && !isEmptyToo) return undefined
    const whole = pages.filter(
      ({ chunks, sizeBytes }) => sizeOf(chunks) >= Math.min(sizeBytes, maxPageBytes),
    )
    const read = whole.map((page) => {
      const isCut = page.sizeBytes > maxPageBytes
      const bytes = Buffer.concat(page.chunks).subarray(0, maxPageBytes)
      // Drops a character that was cut at the end.
      const text = new TextDecoder().decode(bytes, { stream: isCut })
      return readPage(page, isCut ? text + cutNote : text)
    })
    return packPages(read, this.#leftOut + pages.length - whole.length)
  }
}

const sizeOf = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0)

/** The folders of `docs`, and the short names that they have in `website/docs`. */
const folders: Readonly<Record<string, PageCategory>> = {
  guides: 'guides',
  resources: 'resources',
  r: 'resources',
  'data-sources': 'data-sources',
  d: 'data-sources',
  'ephemeral-resources': 'ephemeral-resources',
  'list-resources': 'list-resources',
  actions: 'actions',
  functions: 'functions',
}

const pagePath =
  /^(?<root>docs|website\/docs)\/(?:(?<folder>[a-z-]+)\/)?(?<file>[^/]+?)(?:\.html)?\.(?:md|markdown)$/
const slugPattern = /^[A-Za-z0-9_][\w.-]{0,127}$/

interface PagePlace extends Pick<ProviderPage, 'category' | 'slug' | 'path'> {
  readonly isOld: boolean
}

/**
 * Finds out which page a file of a release is.
 *
 * @returns undefined for any other file; `unusable` for a page whose name cannot be part of a URL
 */
function pagePlaceOf(path: string): PagePlace | 'unusable' | undefined {
  const { root, folder, file: slug = '' } = pagePath.exec(path)?.groups ?? {}
  if (root === undefined) return undefined
  const isIndex = folder === undefined && slug === 'index'
  const named = folder !== undefined && Object.hasOwn(folders, folder) ? folders[folder] : undefined
  const category = isIndex ? 'overview' : named
  if (category === undefined) return undefined
  if (!slugPattern.test(slug)) return 'unusable'
  return { category, slug, path, isOld: root !== 'docs' }
}

const frontMatter = /^\uFEFF?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s
/** A front matter has three short fields. */
const maxFrontMatter = 16 * 1024

/**
 * Splits a page into the fields of its front matter and its Markdown.
 *
 * @see https://developer.hashicorp.com/terraform/registry/providers/docs
 */
function readPage(
  { category, slug, path }: PagePlace,
  text: string,
): { readonly page: ProviderPage; readonly markdown: string } {
  const [all = '', head = ''] = frontMatter.exec(text.slice(0, maxFrontMatter)) ?? []
  const { page_title: title, subcategory, description } = fieldsOf(head)
  const page = {
    category,
    ...(subcategory !== undefined && { subcategory: printable(subcategory, 100) }),
    slug,
    title: titleOf({ category, slug }, title),
    path,
    ...(description !== undefined && { description: printable(description, 300) }),
  }
  return { page, markdown: text.slice(all.length) }
}

const field = /^(page_title|subcategory|description):((?:.*)(?:\r?\n(?:[ \t].*)?)*)/gm
/** The parser needs half a second for 5,000 nested lists, so collections, anchors and tags are not parsed. */
const isText = /^\s*[^\s[{&*!?-]/

/** The texts of a front matter. A mistake in one affects only that one. */
function fieldsOf(head: string): Partial<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const [, name = '', text = ''] of head.matchAll(field)) {
    if (!isText.test(text)) continue
    try {
      const value: unknown = parse(`-${text}`, { logLevel: 'error' })
      const [only] = Array.isArray(value) ? value : []
      if (typeof only === 'string' && only.trim() !== '') texts[name] = only.trim()
    } catch {
      // Then the page has the name of its file.
    }
  }
  return texts
}

/**
 * People know a resource by its name. Generators write `cmdb_host Resource - terraform-provider-cmdb`, people `CMDB:
 * cmdb_host`.
 */
function titleOf({ category, slug }: Pick<ProviderPage, 'category' | 'slug'>, title = ''): string {
  if (category === 'overview') return 'Overview'
  const words = title.match(/[\w.-]+/g) ?? []
  const isName = (word: string) => word === slug || word.endsWith(`_${slug}`)
  const name = category === 'guides' ? undefined : words.find(isName)
  const short = title.replace(/ - terraform-provider-[\w-]+$/, '')
  return name ?? (printable(short, 150) || slug)
}
