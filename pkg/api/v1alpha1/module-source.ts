import * as z from 'zod'
import * as rules from './rules.ts'

/** Where the versions of a module come from. */
export const ModuleSource = z
  .object({
    type: z.enum(['github', 'git', 'archive', 'registry']).describe('How versions are found.'),
    url: z
      .string()
      .optional()
      .meta({
        description:
          'Of the repository; of an archive, with {version} in it; of a registry, the address host/namespace/name/system.',
        ...rules.patterned(rules.sourceUrl, 1024),
      }),
    path: z
      .string()
      .optional()
      .meta({
        description: 'Directory of the module inside the archive or repository. Default: its root.',
        ...rules.patterned(rules.innerPath, 1024),
      }),
    tagPrefix: z.string().optional().meta({
      description: 'What stands before the version in a tag, such as vpc/v. Default: nothing or v.',
      maxLength: 256,
    }),
    secretRef: z
      .object({
        name: z.string().min(1).describe('Name of a Secret in the namespace of the resource.'),
      })
      .optional()
      .describe('Secret with a token, or username and password, and ca.crt.'),
  })
  .meta({
    description: 'Where versions come from. Default: GitHub, from repoUrl or repoOwner.',
    'x-kubernetes-validations': rules.ruled(rules.moduleSource, {})['x-kubernetes-validations'],
  })
export type ModuleSource = z.infer<typeof ModuleSource>
