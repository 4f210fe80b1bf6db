import * as z from 'zod'
import { outputOption } from './printing.ts'
import { apart } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { archivesOption, toggle } from './values.ts'

const { manifests, kubeconfig, apiGroup, namespace } = serverCommand.options

const groups = z
  .string()
  .transform((text) => text.split(',').map((group) => group.trim()))
  .transform((names) => names.filter((name) => name !== ''))
  .meta({ title: 'A,B,…' })

const options = flagged({
  manifests,
  kubeconfig,
  apiGroup,
  namespace,
  groups: {
    value: groups,
    default: '',
    otherwise: 'none',
    meaning: 'Groups of the caller, in the order of the token, such as platform,dev or client:ci.',
  },
  job: toggle(
    'Treat the groups as those of a CI job (`--publish-issuers`). GroupBindings that match without any group do not apply to jobs.',
  ),
  expression: {
    value: z.string().meta({ title: 'RULE' }),
    otherwise: 'the expressions of the GroupBindings',
    meaning: 'An expression to evaluate for these groups, part by part, without reading records.',
  },
  archives: {
    ...archivesOption,
    default: '/data/modules',
    meaning: 'Root folder of archives on the file system, for digests that manifests lack.',
  },
  output: outputOption,
})

/** Says what GroupBindings make of groups, or what the catalog makes of an address. */
export const explainCommand = {
  program: 'depot explain',
  operands: '[ADDRESS [VERSION]]',
  operandsOptional: true,
  summary:
    'Shows the result of each GroupBinding for a caller with these groups, and which one decides. With an address, shows which object has the address, which of its Versions are served, and why the others are not.',
  examples: [
    'depot explain platform/network/aws 2.0.0 --kubeconfig ~/.kube/config',
    'depot explain --manifests registry --groups platform,dev',
    'depot explain --kubeconfig ~/.kube/config --groups client:ci -o json',
    'depot explain --kubeconfig ~/.kube/config --groups gha:repository_id:74,gha:event_name:push --job',
    `depot explain --groups a,b --expression '"a" in groups and not ("b" in groups)'`,
  ],
  options,
  rules: [apart('manifests', 'kubeconfig', 'manifests take the place of a cluster')],
} satisfies Command<typeof options>

export type ExplainCommandOptions = Options<typeof options>
