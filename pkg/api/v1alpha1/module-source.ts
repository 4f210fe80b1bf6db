import * as z from 'zod'
import { oneOf, optionalText } from '../schema/schema.ts'
import * as rules from './rules.ts'

/** The source of a module's versions. */
export const ModuleSource = z
  .object({
    type: oneOf(['github', 'git', 'archive', 'registry'], 'Kind of source.'),
    url: optionalText(
      'URL of the repository; URL of an archive, with {version} in it; or the registry address host/namespace/name/system.',
      rules.patterned(rules.sourceUrl, 1024),
    ),
    path: optionalText(
      'Directory of the module inside the archive or repository. Default: its root.',
      rules.patterned(rules.innerPath, 1024),
    ),
    tagPrefix: optionalText(
      'Prefix of a tag before the version, such as vpc/v. Default: nothing or v.',
      { maxLength: 256 },
    ),
    secretRef: z
      .object({
        name: z.string().min(1).describe('Name of a Secret in the namespace of the resource.'),
      })
      .optional()
      .describe('Secret with a token, or username and password, and ca.crt.'),
  })
  .meta({
    description: 'Source of the versions. Default: GitHub, from repoUrl or repoOwner.',
    'x-kubernetes-validations': rules.ruled(rules.moduleSource, {})['x-kubernetes-validations'],
  })
export type ModuleSource = z.infer<typeof ModuleSource>
