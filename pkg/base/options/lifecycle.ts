import * as z from 'zod'
import { apart } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { toggle } from './values.ts'

const { manifests, kubeconfig, apiGroup } = serverCommand.options
const place = {
  manifests: {
    ...manifests,
    meaning: 'Folder of manifests whose Module or Provider is edited, in place of a cluster.',
  },
  kubeconfig: {
    ...kubeconfig,
    meaning:
      'Kubeconfig whose user may list and watch Depots, Modules, Providers and Versions of the namespace, and patch Modules and Providers.',
  },
  apiGroup,
  dryRun: toggle('Print the change, and write nothing.'),
} as const

const note = (title: string) => z.string().min(1).max(1024).meta({ title })
const options = flagged({
  ...place,
  message: { value: note('TEXT'), otherwise: 'none', meaning: 'The reason, for people and CLIs.' },
  replacedBy: {
    value: note('VERSION'),
    otherwise: 'none',
    meaning: 'Version or address to use instead.',
  },
  link: { value: note('URL'), otherwise: 'none', meaning: 'Page that explains it.' },
})

const operands = 'ADDRESS VERSIONS'
const rules = [apart('manifests', 'kubeconfig', 'manifests take the place of a cluster')]
const edits =
  'It adds a rule at the top of spec.lifecycle of the Module or Provider. It replaces an existing rule with the same VERSIONS. VERSIONS is a constraint, such as 1.1.0 or "< 1.0.0".'

/** Warns people of versions. */
export const deprecateCommand = {
  program: 'depot deprecate',
  operands,
  summary: `Deprecates versions: people can still use them, and are warned. ${edits}`,
  examples: [
    'depot deprecate platform/network/aws "< 1.0.0" --message "not maintained" --replaced-by 2.0.0',
  ],
  options,
  rules,
} satisfies Command<typeof options>

/** Hides versions from new users. */
export const yankCommand = {
  program: 'depot yank',
  operands,
  summary: `Yanks versions: people can still download them, but lists have them only while a newer active release has the same minor number. ${edits}`,
  examples: ['depot yank platform/hello 1.1.0 --message "crashes at start" --manifests registry'],
  options,
  rules,
} satisfies Command<typeof options>

/** Stops serving versions. */
export const quarantineCommand = {
  program: 'depot quarantine',
  operands,
  summary: `Quarantines versions: they are no longer served, and downloads say why. ${edits}`,
  examples: ['depot quarantine platform/network/aws 1.1.0 --message "leaks keys" --dry-run'],
  options,
  rules,
} satisfies Command<typeof options>

const activateOptions = flagged(place)

/** Takes back what the others did. */
export const activateCommand = {
  program: 'depot activate',
  operands,
  summary:
    'Removes the rules with these VERSIONS that deprecate, yank and quarantine wrote into spec.lifecycle of the Module or Provider.',
  examples: ['depot activate platform/network/aws 1.1.0 --kubeconfig ~/.kube/config'],
  options: activateOptions,
  rules,
} satisfies Command<typeof activateOptions>

export type LifecycleCommandOptions = Options<typeof options>
export type ActivateCommandOptions = Options<typeof activateOptions>
