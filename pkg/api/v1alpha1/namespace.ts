import * as z from 'zod'
import { Metadata } from './metadata.ts'

/** Only the annotations that grant places of storage to a namespace: `{api_group}/storage`. */
const Annotations = z
  .record(z.string(), z.string())
  .default({})
  .transform((all) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => name.endsWith('/storage'))),
  )

/** The core Namespace, with only its labels and grants. */
export const Namespace = z.object({
  kind: z.literal('Namespace'),
  metadata: Metadata.extend({
    namespace: z.literal('').default(''),
    annotations: Annotations,
  }),
})
export type Namespace = z.infer<typeof Namespace>
