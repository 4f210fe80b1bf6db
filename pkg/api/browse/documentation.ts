import * as z from 'zod'
import { ModuleComparison, ModuleDocs, ProviderPage } from '../docs/docs.ts'
import { list, text } from '../schema/schema.ts'
import { component, components, tally } from './parts.ts'

/** The documentation of a module version, with what it belongs to. */
export const VersionDocs = ModuleDocs.extend({
  address: text('Name and system of the module, such as network/aws.'),
  version: z.string(),
}).register(components, { id: 'VersionDocs' })
export type VersionDocs = z.infer<typeof VersionDocs>

const ofProvider = {
  address: text('Type of the provider.'),
  version: z.string(),
}

/** The list of a provider version's pages. */
export const ProviderPages = component('ProviderPages', {
  ...ofProvider,
  pages: list(ProviderPage, 'By path.'),
  leftOut: tally.describe('Number of pages that were not stored, because they were too many.'),
})
export type ProviderPages = z.infer<typeof ProviderPages>

/** A page of a provider version. */
export const ProviderPageText = ProviderPage.extend({
  ...ofProvider,
  markdown: text('As the release has it. It may contain HTML: show it as text.'),
}).register(components, { id: 'ProviderPageText' })
export type ProviderPageText = z.infer<typeof ProviderPageText>

ModuleComparison.register(components, { id: 'ModuleComparison' })
