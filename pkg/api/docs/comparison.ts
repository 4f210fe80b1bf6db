import * as z from 'zod'
import { list, oneOf, optionalText, text } from '../schema/schema.ts'

const Verdict = oneOf(
  ['breaking', 'unknown', 'compatible'],
  'Whether callers of the earlier version can take the later one unchanged.',
)

const Change = z.strictObject({
  kind: oneOf(
    [
      'input',
      'output',
      'provider',
      'requiredVersion',
      'state',
      'module',
      'resource',
      'submodule',
      'parser',
    ],
    '`state`: a resource of the state is destroyed or moves. `parser`: a file is not valid.',
  ),
  path: text('Folder in the archive; empty for the root.'),
  name: z.string(),
  before: optionalText('Absent if it is new.'),
  after: optionalText('Absent if it was removed.'),
  verdict: Verdict,
  why: text('One sentence.'),
})

/** The changes between two versions of a module. */
export const ModuleComparison = z.strictObject({
  from: z.string(),
  to: z.string(),
  verdict: Verdict.describe('The worst verdict of the changes.'),
  changes: list(Change, 'The worst first, then in the order of the module.'),
  readme: oneOf(
    ['same', 'changed', 'unknown'],
    '`unknown`: it was too large for the documentation of one of the versions.',
  ),
  dependencies: list(
    z.strictObject({
      kind: z.enum(['provider', 'module']),
      name: z.string(),
      before: z.string().optional(),
      after: z.string().optional(),
    }),
    'Providers and module calls of the root that changed: source and version.',
  ),
})

export type ModuleComparison = z.infer<typeof ModuleComparison>
export type InterfaceChange = z.infer<typeof Change>
