import * as z from 'zod'
import { oneOf, optionalList, optionalText, text } from '../schema/schema.ts'

/** The interface of a module version, compared with that of an earlier one. */
export const Compared = z.object({
  from: text('The earlier version.'),
  fromSha256: text('SHA-256 of its archive, in hexadecimal.'),
  sha256: optionalText('SHA-256 of the archive of this Version. Absent while it is not stored.'),
  verdict: oneOf(
    ['breaking', 'unknown', 'compatible'],
    'Whether callers of the earlier version can use this one without a change.',
  ),
  reasons: optionalList(z.string(), 'The first three changes that decide the verdict.', {
    maxItems: 3,
  }),
})
export type Compared = z.infer<typeof Compared>
