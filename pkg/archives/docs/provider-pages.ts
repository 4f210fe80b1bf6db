import { parse } from 'yaml'
import type { PageCategory, ProviderPage } from '../../api/docs/docs.ts'
import { printable } from '../../base/errors/errors.ts'

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

export interface PagePlace extends Pick<ProviderPage, 'category' | 'slug' | 'path'> {
  readonly isOld: boolean
}

/**
 * Finds out which page a file of a release is.
 *
 * @returns undefined for any other file; `unusable` for a page whose name cannot be part of a URL
 */
export function pagePlaceOf(path: string): PagePlace | 'unusable' | undefined {
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
export function readPage(
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
