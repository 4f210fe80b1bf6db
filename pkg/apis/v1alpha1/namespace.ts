import { z } from 'zod'
import { Metadata } from './metadata.ts'

/** The core Namespace, of which only the labels matter here. */
export const Namespace = z.object({
  kind: z.literal('Namespace'),
  metadata: Metadata.extend({ namespace: z.literal('').default('') }),
})
export type Namespace = z.infer<typeof Namespace>
