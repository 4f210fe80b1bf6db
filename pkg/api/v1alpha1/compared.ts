import * as z from 'zod'
import { optionalText } from '../schema/schema.ts'

/** The interface of a module version, compared with that of an earlier one. */
export const Compared = z.object({
  from: z.string().describe('The earlier version.'),
  fromSha256: z.string().describe('SHA-256 of its archive, in hexadecimal.'),
  sha256: optionalText('SHA-256 of the archive of this Version. Absent while it is not stored.'),
  verdict: z
    .enum(['breaking', 'unknown', 'compatible'])
    .describe('Whether callers of the earlier version can use this one without a change.'),
  reasons: z
    .array(z.string())
    .optional()
    .meta({ description: 'The first three changes that decide the verdict.', maxItems: 3 }),
})
export type Compared = z.infer<typeof Compared>
