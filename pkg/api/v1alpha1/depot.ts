import * as z from 'zod'
import { optionalList, optionalOneOf, optionalText, optionalTexts, text } from '../schema/schema.ts'
import { GithubClientConfig, resource } from './metadata.ts'
import { ModuleConfig } from './module.ts'
import { ProviderConfig } from './provider.ts'
import { StorageConfig } from './storage-config.ts'
import { DepotReport, Reconciled, Steering } from './sync-status.ts'
import { UpstreamPolicy } from './upstream-policy.ts'

/** A limit, so that the API server can tell that the rule on every storageConfig is cheap. */
const maxItems = 1000

/** A set of modules and providers that follow their sources. */
export const Depot = resource('Depot', {
  spec: {
    global: z
      .object({
        githubClientConfig: GithubClientConfig.optional(),
        moduleConfig: ModuleConfig.optional(),
        policy: UpstreamPolicy.optional().describe(
          'Policy in addition to spec.policy. The stricter of the two counts.',
        ),
        storageConfig: StorageConfig.optional(),
      })
      .optional()
      .describe('Defaults for every module and provider.'),
    moduleConfigs: optionalList(ModuleConfig, 'The modules of this Depot.', { maxItems }),
    providerConfigs: optionalList(ProviderConfig, 'The providers of this Depot.', { maxItems }),
    policy: UpstreamPolicy.optional().describe(
      'Which versions of upstreams may come in. Stored versions stay.',
    ),
    pollingIntervalMinutes: z
      .int32()
      .min(0)
      .optional()
      .describe('Poll interval for new versions, in minutes. Default 0: never.'),
    webhook: z
      .object({
        secretRef: z
          .object({
            name: text('Name.', { minLength: 1, maxLength: 253 }),
          })
          .describe(
            'Secret in the namespace of the Depot. Its key `secret` has what the sender signs with.',
          ),
      })
      .optional()
      .describe('Webhook that makes this Depot poll at once. Default: none.'),
    deletionPolicy: optionalOneOf(
      ['Orphan', 'Delete'],
      'What happens to a resource whose config is removed, and to all resources when the Depot is deleted. Default Orphan: they stay.',
    ),
    ...Steering,
  },
  status: {
    modules: optionalTexts('Modules that this Depot manages, as name or namespace/name.'),
    providers: optionalTexts('Providers that this Depot manages, as name or namespace/name.'),
    ...DepotReport,
    ...Reconciled,
    lastHandledPoll: optionalText('Last processed value of the annotation poll-requested-at.'),
  },
})
export type Depot = z.infer<typeof Depot>
