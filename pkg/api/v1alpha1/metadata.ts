import * as z from 'zod'
import { optionalFlag, optionalText } from '../schema/schema.ts'
import * as rules from './rules.ts'

type Shape = z.core.$ZodLooseShape

const OwnerReference = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string().optional(),
})

/**
 * The part of a Kubernetes object's metadata that Depot reads; the rest is dropped. An object without a namespace is in
 * `default`, as for kubectl.
 */
export const Metadata = z.object({
  name: z.string().min(1),
  namespace: z.string().min(1).default('default'),
  uid: z.string().default(''),
  resourceVersion: z.string().default(''),
  creationTimestamp: z.string().default(''),
  labels: z.record(z.string(), z.string()).default({}),
  ownerReferences: z.array(OwnerReference).default([]),
  generation: z.int().optional(),
  deletionTimestamp: z.string().optional(),
  finalizers: z.array(z.string()).optional(),
})

interface Parts<Spec, Status> {
  readonly spec: Spec
  readonly status: Status
  /** For the definition. */
  readonly specKeywords?: object
  readonly statusKeywords?: object
}

/** The schema of a kind, from the fields of its spec and its status. */
export const resource = <K extends string, Spec extends Shape, Status extends Shape>(
  kind: K,
  { spec, status, specKeywords, statusKeywords }: Parts<Spec, Status>,
) =>
  z.object({
    kind: z.literal(kind),
    metadata: Metadata,
    spec: z.object(spec).meta({ description: 'Desired state.', ...specKeywords }),
    status: z
      .object(status)
      .optional()
      .meta({ description: 'Last observed state.', ...statusKeywords }),
  })

/** The fields of `status` that report the last synchronisation. */
export const SyncState = {
  synced: optionalFlag('Whether the last sync succeeded.'),
  syncStatus: optionalText(
    'Result of the last sync, in words. `failed` or `error` marks a failure.',
  ),
}

export const GithubClientConfig = z
  .object({
    useAuthenticatedClient: optionalFlag(
      'Use the configured GitHub credentials instead of anonymous requests.',
    ),
    secretName: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Secret in the namespace of the resource with a token or the keys of a GitHub App. Default: --github-secret-name.',
      ),
    apiUrl: optionalText(
      'API of a GitHub Enterprise server. Default https://api.github.com.',
      rules.patterned(rules.httpsUrl, 1024),
    ),
  })
  .describe('Access to GitHub.')
export type GithubClientConfig = z.infer<typeof GithubClientConfig>
