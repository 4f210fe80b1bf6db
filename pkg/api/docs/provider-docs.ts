import * as z from 'zod'
import { count, text } from '../schema/schema.ts'

/** In the order of the tree. */
export const pageCategories = [
  'overview',
  'guides',
  'resources',
  'data-sources',
  'ephemeral-resources',
  'list-resources',
  'actions',
  'functions',
] as const

export const PageCategory = z.enum(pageCategories)
export type PageCategory = z.infer<typeof PageCategory>

/** A page in the list of all pages. */
export const ProviderPage = z.strictObject({
  category: PageCategory,
  subcategory: z.string().optional(),
  slug: text('Name of its file without the ending.'),
  title: text('Name of the resource or function, or what the page says of itself.'),
  path: text('Path in the release.'),
  description: z.string().optional(),
})
export type ProviderPage = z.infer<typeof ProviderPage>

/** The list of a provider's pages as it is stored, with the place of each in the file. */
export const StoredPages = z.strictObject({
  schema: z.literal(1),
  pages: z.array(
    z.strictObject({
      page: ProviderPage,
      at: count('Where its bytes begin, after the list.'),
      sizeBytes: z.int().min(0),
    }),
  ),
  leftOut: count('Number of pages that did not fit.'),
})
export type StoredPages = z.infer<typeof StoredPages>
