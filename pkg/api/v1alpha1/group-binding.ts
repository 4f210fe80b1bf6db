import * as z from 'zod'
import { optionalList, optionalTexts } from '../schema/schema.ts'
import { conditions } from './condition.ts'
import { resource } from './metadata.ts'
import * as rules from './rules.ts'

/** Access for the members of a group. */
export const GroupBinding = resource('GroupBinding', {
  spec: {
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
    providerResources: optionalList(
      z.string().meta(rules.ruled([rules.exactProvider], { maxLength: 253 })),
      'Provider types, or * for all. Empty: no provider.',
      { maxItems: 1000 },
    ),
    publishNamespaces: optionalList(
      z.string().meta(rules.ruled([rules.exactNamespace], { maxLength: 63 })),
      'Namespaces that members may publish to, and see the consumers of. Empty: none.',
      { maxItems: 1000 },
    ),
    publishModules: optionalList(
      z.string(),
      'Globs over names of Modules, such as vpc-*, that members may publish in these namespaces. Empty: none.',
      { maxItems: 1000 },
    ),
    publishProviders: optionalList(
      z.string(),
      'Globs over names of Providers that members may publish in these namespaces. Empty: none.',
      { maxItems: 1000 },
    ),
  },
  status: {
    conditions: conditions('Whether the expression compiles.'),
  },
})
export type GroupBinding = z.infer<typeof GroupBinding>
