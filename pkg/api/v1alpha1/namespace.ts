import * as z from 'zod'
import { Metadata } from './metadata.ts'

/** Of the annotations, those alone that say which places of storage a namespace may use: `{api_group}/storage`. */
const Annotations = z
  .record(z.string(), z.string())
  .default({})
  .transform((all) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => name.endsWith('/storage'))),
  )

/** The core Namespace, of which only labels and grants matter here. */
export const Namespace = z.object({
  kind: z.literal('Namespace'),
  metadata: Metadata.extend({
    namespace: z.literal('').default(''),
    annotations: Annotations,
  }),
})
export type Namespace = z.infer<typeof Namespace>
