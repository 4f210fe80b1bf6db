import * as z from 'zod'
import { optionalTexts } from '../schema/schema.ts'
import { conditions } from './condition.ts'
import { Metadata } from './metadata.ts'
import * as rules from './rules.ts'

/** Access for the members of a group. */
export const GroupBinding = z.object({
  kind: z.literal('GroupBinding'),
  metadata: Metadata,
  spec: z
    .object({
      expression: z
        .string()
        .min(1)
        .meta({
          description: 'Boolean expression over `groups`, such as "platform" in groups.',
          'x-kubernetes-validations': [
            {
              rule: "self.trim() != ''",
              message: 'must be a boolean expression such as "platform" in groups',
            },
          ],
        }),
      moduleResources: optionalTexts('Globs over module names, such as vpc-*. Empty: none.'),
      providerResources: z
        .array(z.string().meta(rules.ruled([rules.exactProvider], { maxLength: 253 })))
        .optional()
        .meta({
          description: 'Provider types, or * for all. Empty: no provider.',
          maxItems: 1000,
        }),
      publishNamespaces: z
        .array(z.string().meta(rules.ruled([rules.exactNamespace], { maxLength: 63 })))
        .optional()
        .meta({
          description:
            'Namespaces that members may publish to, and see the consumers of. Empty: none.',
          maxItems: 1000,
        }),
      publishModules: z.array(z.string()).optional().meta({
        description:
          'Globs over names of Modules, such as vpc-*, that members may publish in these namespaces. Empty: none.',
        maxItems: 1000,
      }),
      publishProviders: z.array(z.string()).optional().meta({
        description:
          'Globs over names of Providers that members may publish in these namespaces. Empty: none.',
        maxItems: 1000,
      }),
    })
    .describe('Desired state.'),
  status: z
    .object({
      conditions: conditions('Whether the expression compiles.'),
    })
    .optional()
    .describe('Last observed state.'),
})
export type GroupBinding = z.infer<typeof GroupBinding>
