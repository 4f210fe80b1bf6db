import * as z from 'zod'
import { oneOf, text } from '../schema/schema.ts'

/** A condition of Kubernetes, parsed leniently: conditions that others wrote must not keep an object from being served. */
const Condition = z.object({
  type: text('Name of the condition.'),
  status: oneOf(['True', 'False', 'Unknown'], 'Whether the condition is true.'),
  observedGeneration: z.int().optional().describe('Generation of the spec that was processed.'),
  lastTransitionTime: text('Time of the last change of the status.', { format: 'date-time' }),
  reason: text('Reason as one word.'),
  message: text('Message for people.'),
})
export type Condition = z.infer<typeof Condition>

/** The condition of a type. */
export function conditionOf(
  status: { readonly conditions?: readonly Condition[] | undefined } | undefined,
  type: string,
): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** `status.conditions`, at most one of a type. */
export function conditions(description: string) {
  return z
    .array(Condition)
    .optional()
    .meta({
      description,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    })
}
