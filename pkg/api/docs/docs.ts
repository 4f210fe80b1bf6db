/**
 * The documentation of a module version: what the module takes and gives, for its root, its submodules and its examples.
 * It is stored next to the archive, and is the input of the pages, of comparisons and of the search. The documentation of a
 * provider version is a list of pages.
 */

import * as z from 'zod'
import { list, optionalList } from '../schema/schema.ts'

export { type InterfaceChange, ModuleComparison } from './comparison.ts'
export { PageCategory, ProviderPage, pageCategories, StoredPages } from './provider-docs.ts'

const text = z.string()
const optionalText = z.string().optional()

type Json = z.infer<ReturnType<typeof z.json>>
/** A value of JSON. It is not looked into, because a large default has a million parts. */
const Value = z.any() as z.ZodType<Json>

const Input = z.strictObject({
  name: text,
  type: optionalText.describe('Type expression as written. Absent if the input has none.'),
  description: optionalText,
  default: Value.optional().describe(
    "Default in Terraform's JSON syntax. Absent if the input is required, or `leftOut` has `defaults`.",
  ),
  required: z.boolean(),
  sensitive: z.boolean(),
  nullable: z.boolean(),
  ephemeral: z.boolean(),
  deprecated: optionalText.describe('Message of OpenTofu for callers that set the input.'),
  validations: z.array(z.strictObject({ message: text })),
})

const Output = z.strictObject({
  name: text,
  description: optionalText,
  sensitive: z.boolean(),
  ephemeral: z.boolean(),
  deprecated: optionalText,
})

const RequiredProvider = z.strictObject({
  name: text.describe('Local name, such as aws.'),
  source: optionalText.describe('Source address, such as hashicorp/aws.'),
  version: optionalText.describe('Version constraint.'),
  aliases: list(text, 'Names of configurations that the caller passes, such as aws.east.'),
})

const Resource = z.strictObject({
  mode: z.enum(['managed', 'data', 'ephemeral']),
  type: text,
  name: text,
})

const ModuleCall = z.strictObject({ name: text, source: optionalText, version: optionalText })

/** A `moved` or `removed` block. Addresses are as written. */
const Refactoring = z.strictObject({ from: text, to: optionalText })

const Problem = z.strictObject({
  message: text,
  file: optionalText.describe('Path in the archive.'),
  line: z.int().min(1).optional(),
})

/** One folder of a module. Lists are in the order of the files, files by name. */
const FolderDocs = z.strictObject({
  path: text.describe('Path in the archive; empty for the root.'),
  readme: optionalText.describe('Markdown.'),
  description: optionalText.describe('First paragraph of the README.'),
  requiredVersion: optionalText.describe('Version constraint of Terraform or OpenTofu.'),
  inputs: z.array(Input),
  outputs: z.array(Output),
  providers: z.array(RequiredProvider),
  resources: z.array(Resource),
  modules: z.array(ModuleCall),
  refactorings: z.array(Refactoring),
  error: Problem.optional().describe(
    'Why the lists are incomplete, such as a file that cannot be parsed.',
  ),
})

/** Parts of documentation that is too large to be stored whole, in the order in which they are left out. */
export const omissibleParts = [
  'exampleReadmes',
  'submoduleReadmes',
  'defaults',
  'readme',
  'descriptions',
] as const

/** Documentation of a module version. */
export const ModuleDocs = z.strictObject({
  schema: z.literal(1),
  root: FolderDocs,
  submodules: z.array(FolderDocs).max(50).describe('The folders of `modules`.'),
  examples: z.array(FolderDocs).max(50).describe('The folders of `examples`.'),
  leftOut: optionalList(
    z.enum(omissibleParts),
    'Parts that are missing, because the documentation would be too large with them.',
  ),
})

export type ModuleDocs = z.infer<typeof ModuleDocs>
export type OmissiblePart = (typeof omissibleParts)[number]
export type FolderDocs = z.infer<typeof FolderDocs>
export type InputDocs = z.infer<typeof Input>
export type OutputDocs = z.infer<typeof Output>
export type ProviderRequirement = z.infer<typeof RequiredProvider>
export type DocsProblem = z.infer<typeof Problem>

/** A root of which nothing is known. */
export const emptyRoot: FolderDocs = {
  path: '',
  inputs: [],
  outputs: [],
  providers: [],
  resources: [],
  modules: [],
  refactorings: [],
}
