import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import type { Substitution } from './status.ts'

/** Reports other bytes under a stored version, by an Event and in metrics. @param substitution undefined: there is nothing new */
export function reportSubstitution(
  { metrics, objects }: Pick<Context, 'metrics' | 'objects'>,
  object: StoredObject,
  substitution: Substitution | undefined,
): void {
  if (substitution === undefined) return
  const { type } = object.spec as Version['spec']
  metrics.substituted(type)
  const { served, offered, from } = substitution
  const note = `upstream has other bytes under a stored version: ${offered} from ${from} instead of ${served}, which is still served`
  objects.event({
    object,
    type: 'Warning',
    reason: 'UpstreamSubstitution',
    note: printable(note, 1024),
  })
}
