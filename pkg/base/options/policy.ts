import { policyOptions } from './fetching.ts'
import { outputOption } from './printing.ts'
import { apart } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { path, toggle } from './values.ts'

const { manifests, kubeconfig, apiGroup } = serverCommand.options

const options = flagged({
  depot: {
    value: path,
    otherwise: 'none',
    meaning: 'Manifest of the Depot whose policy is tested.',
  },
  ...policyOptions,
  held: toggle('List the versions that are held back, instead of the policies.'),
  manifests: {
    ...manifests,
    meaning: 'Folder of manifests to list, in place of a cluster.',
  },
  kubeconfig: {
    ...kubeconfig,
    meaning: 'Kubeconfig whose user may list and watch the resources of Depot.',
  },
  apiGroup,
  output: outputOption,
})

/** Tests and lists policies for versions of upstreams. */
export const policyCommand = {
  program: 'depot policy',
  operands: 'test ADDRESS[@VERSION] | list',
  summary:
    'Tests or lists the policies for versions of upstreams. test works offline: it shows whether the policy of a Depot lets a version in, and why, and exits with 1 if the version does not come in at once. ADDRESS is the host and path of the source. list prints the policies of all Depots, or the versions that they hold back, and until when.',
  examples: [
    'depot policy test --depot public.yaml github.com/acme/terraform-aws-vpc@5.1.0',
    'depot policy test --upstream-policy policy.yaml registry.opentofu.org/hashicorp/aws',
    'depot policy list --held --kubeconfig ~/.kube/config',
    'depot policy list --held --manifests registry -o json',
  ],
  options,
  rules: [apart('manifests', 'kubeconfig', 'manifests take the place of a cluster')],
} satisfies Command<typeof options>

export type PolicyCommandOptions = Options<typeof options>
