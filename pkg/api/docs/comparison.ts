import * as z from 'zod'
import { optionalText } from '../schema/schema.ts'

const Verdict = z
  .enum(['breaking', 'unknown', 'compatible'])
  .describe('Whether callers of the earlier version can take the later one unchanged.')

const Change = z.strictObject({
  kind: z
    .enum([
      'input',
      'output',
      'provider',
      'requiredVersion',
      'state',
      'module',
      'resource',
      'submodule',
      'parser',
    ])
    .describe(
      '`state`: a resource of the state is destroyed or moves. `parser`: a file is not valid.',
    ),
  path: z.string().describe('Folder in the archive; empty for the root.'),
  name: z.string(),
  before: optionalText('Absent if it is new.'),
  after: optionalText('Absent if it was removed.'),
  verdict: Verdict,
  why: z.string().describe('One sentence.'),
})

/** The changes between two versions of a module. */
export const ModuleComparison = z.strictObject({
  from: z.string(),
  to: z.string(),
  verdict: Verdict.describe('The worst verdict of the changes.'),
  changes: z.array(Change).describe('The worst first, then in the order of the module.'),
  readme: z
    .enum(['same', 'changed', 'unknown'])
    .describe('`unknown`: it was too large for the documentation of one of the versions.'),
  dependencies: z
    .array(
      z.strictObject({
        kind: z.enum(['provider', 'module']),
        name: z.string(),
        before: z.string().optional(),
        after: z.string().optional(),
      }),
    )
    .describe('Providers and module calls of the root that changed: source and version.'),
})

export type ModuleComparison = z.infer<typeof ModuleComparison>
export type InterfaceChange = z.infer<typeof Change>
