import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import * as z from 'zod'
import { findForTests, toolPath } from '../../../hack/testbed/tools.ts'
import type { FolderDocs } from '../../api/docs/docs.ts'
import { generateModule } from './modules.fixture.ts'
import { readModuleDocs } from './read-docs.ts'

/*
 * Compares the documentation of modules with that of HashiCorp's terraform-config-inspect. Deliberate differences: Depot
 * computes no expression such as 60 * 60, keeps the form of Unicode, reads .tofu files, joins override files, and lists only
 * providers that a module declares.
 */

const reference = findForTests('config-reference', () => toolPath('config-reference'))
const dir = mkdtempSync(join(tmpdir(), 'depot-docs-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Files = Readonly<Record<string, string>>

const Placed = z.object({
  name: z.string(),
  pos: z.object({ filename: z.string(), line: z.int() }),
})
const Described = Placed.extend({
  description: z.string().default(''),
  sensitive: z.boolean().default(false),
})
const Resource = Placed.extend({ mode: z.string(), type: z.string() })
const Answer = z.object({
  variables: z.record(
    z.string(),
    Described.extend({ type: z.string().default(''), default: z.json(), required: z.boolean() }),
  ),
  outputs: z.record(z.string(), Described),
  required_core: z.array(z.string()).default([]),
  required_providers: z.record(
    z.string(),
    z.object({
      source: z.string().optional(),
      version_constraints: z.array(z.string()).default([]),
      aliases: z.array(z.object({ name: z.string(), alias: z.string() })).default([]),
    }),
  ),
  managed_resources: z.record(z.string(), Resource),
  data_resources: z.record(z.string(), Resource),
  module_calls: z.record(
    z.string(),
    Placed.extend({ source: z.string(), version: z.string().optional() }),
  ),
  diagnostics: z.array(z.unknown()).default([]),
})
type Answer = z.infer<typeof Answer>

/** All modules in one run, because each start of the program takes longer than a module. */
function answersOf(modules: readonly Files[]): Answer[] {
  const folders = modules.map((files, index) => {
    const folder = join(dir, String(index))
    mkdirSync(folder, { recursive: true })
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
    return folder
  })
  const lines = execFileSync(reference ?? '', folders, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => Answer.parse(JSON.parse(line)))
}

const rootOf = async (files: Files): Promise<FolderDocs> => {
  const listed = Object.entries(files).map(([path, text]) => ({
    path,
    sizeBytes: Buffer.byteLength(text),
    text,
  }))
  const { root } = await readModuleDocs(listed, async function* ({ text }) {
    yield Buffer.from(text)
  })
  return root
}

/** The fields that both have, in the form of the reference. */
function theirs(answer: Answer) {
  const inOrder = <T extends z.infer<typeof Placed>>(map: Readonly<Record<string, T>>): T[] =>
    Object.values(map).toSorted(
      ({ pos: a }, { pos: b }) =>
        (a.filename < b.filename ? -1 : Number(a.filename > b.filename)) || a.line - b.line,
    )
  return {
    diagnostics: answer.diagnostics,
    requiredVersion: answer.required_core.join(', '),
    inputs: inOrder(answer.variables).map((input) => ({
      name: input.name,
      type: input.type,
      description: input.description,
      sensitive: input.sensitive,
      required: input.required,
      default: input.default,
    })),
    outputs: inOrder(answer.outputs).map(({ name, description, sensitive }) => ({
      name,
      description,
      sensitive,
    })),
    resources: [...inOrder(answer.managed_resources), ...inOrder(answer.data_resources)].map(
      ({ mode, type, name }) => ({ mode, type, name }),
    ),
    modules: inOrder(answer.module_calls).map(({ name, source, version }) => ({
      name,
      source,
      version,
    })),
    // Providers without an entry are implied by resources and `provider` blocks.
    providers: Object.entries(answer.required_providers)
      .filter(([, { source, version_constraints: v }]) => source !== undefined || v.length > 0)
      .map(([name, { source, version_constraints: versions, aliases }]) => ({
        name,
        source,
        version: versions.length > 0 ? versions.join(', ') : undefined,
        aliases: aliases.map(({ name: of, alias }) => `${of}.${alias}`),
      }))
      .toSorted(byName),
  }
}

/** The fields that both have, in the form of Depot. */
const ours = (root: FolderDocs) => ({
  diagnostics: root.error ? [root.error] : [],
  requiredVersion: root.requiredVersion ?? '',
  inputs: root.inputs.map(({ name, type, description, sensitive, required, ...input }) => ({
    name,
    type: type ?? '',
    description: description ?? '',
    sensitive,
    required,
    default: input.default ?? null,
  })),
  outputs: root.outputs.map(({ name, description, sensitive }) => ({
    name,
    description: description ?? '',
    sensitive,
  })),
  resources: root.resources.filter(({ mode }) => mode !== 'ephemeral'),
  modules: root.modules.map(({ name, source, version }) => ({ name, source, version })),
  providers: root.providers
    .map(({ name, source, version, aliases }) => ({ name, source, version, aliases }))
    .toSorted(byName),
})

const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  a.name < b.name ? -1 : 1

it.skipIf(reference === undefined)(
  'agrees with terraform-config-inspect about 200 generated modules',
  async () => {
    const modules = Array.from({ length: 200 }, (_, seed) =>
      generateModule(seed, seed % 50 === 0 ? 300 : 8),
    )
    const answers = answersOf(modules.map(({ plain }) => plain))
    for (const [seed, { files }] of modules.entries()) {
      const answer = answers[seed]
      expect(ours(await rootOf(files)), `module ${seed}`).toEqual(answer && theirs(answer))
    }
  },
)
