import { explainCommand } from './explain.ts'
import { apart } from './rules.ts'
import { type Command, flagged, type Options } from './table.ts'

const { manifests, kubeconfig, apiGroup, namespace, archives, output } = explainCommand.options
const options = flagged({
  manifests,
  kubeconfig,
  apiGroup,
  namespace,
  archives,
  output,
})

/** Tells why an object is in its state. */
export const whyCommand = {
  program: 'depot why',
  operands: 'NS/NAME [VERSION]',
  summary:
    'Explains the state of a resource: the requests to upstream, their answers, the decision of Depot, and the command that solves a problem. NS/NAME is an address, or a Depot, Module, Provider or Version.',
  examples: [
    'depot why platform/network --kubeconfig ~/.kube/config',
    'depot why platform/network/aws 2.0.0 --manifests registry',
  ],
  options,
  rules: [apart('manifests', 'kubeconfig', 'manifests take the place of a cluster')],
} satisfies Command<typeof options>

export type WhyCommandOptions = Options<typeof options>
