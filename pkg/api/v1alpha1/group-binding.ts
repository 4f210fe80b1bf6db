import * as z from 'zod'
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
      moduleResources: z
        .array(z.string())
        .optional()
        .describe('Globs over module names, such as vpc-*. Empty: none.'),
      providerResources: z
        .array(z.string().meta(rules.ruled([rules.exactProvider], { maxLength: 253 })))
        .optional()
        .meta({
          description: 'Provider types, or * for all. Empty: no provider.',
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
