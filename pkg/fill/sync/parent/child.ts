import { isDeepStrictEqual } from 'node:util'
import type { ParentKind } from '../../../api/v1alpha1/v1alpha1.ts'
import type { AppliedObject, StoredObject } from '../../../records/store/store.ts'
import { labelValue } from '../names.ts'
import type { Desired } from './desired.ts'

/** What of a parent its Versions carry a copy of. */
export interface ParentConfig {
  readonly type: ParentKind
  /** With the name that was only implied. */
  readonly config: Readonly<Record<string, unknown>> & { readonly name: string }
}

/** A Version as its parent wants it. */
export function childOf(
  apiGroup: string,
  parent: StoredObject,
  { type, config }: ParentConfig,
  desired: Desired,
  name: string,
): AppliedObject {
  const { namespace, name: parentName, uid } = parent.metadata
  const { spelled, os, arch, protocols } = desired
  const label = (key: string, value: string) => ({ [`${apiGroup}/${key}`]: labelValue(value) })
  const owner = { apiVersion: `${apiGroup}/v1alpha1`, kind: type, name: parentName, uid }
  return {
    kind: 'Version',
    metadata: {
      name,
      namespace,
      labels: {
        ...label(type === 'Module' ? 'module' : 'provider', parentName),
        ...label('namespace', namespace),
        ...(os !== undefined && label('provider-os', os)),
        ...(arch !== undefined && label('provider-arch', arch)),
      },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      type,
      version: spelled,
      ...(os !== undefined && { operatingSystem: os }),
      ...(arch !== undefined && { architecture: arch }),
      ...(protocols !== undefined && protocols.length > 0 && { protocols: [...protocols] }),
      [type === 'Module' ? 'moduleConfigRef' : 'providerConfigRef']: config,
    },
  }
}

/** Whether an object has everything that is wanted of it; what others wrote beside does not matter. */
export function isApplied(object: StoredObject | undefined, wanted: AppliedObject): boolean {
  if (object === undefined) return false
  const { metadata } = object
  const { labels = {}, annotations = {}, ownerReferences = [] } = wanted.metadata
  const has = (all: Readonly<Record<string, unknown>>, some: object) =>
    Object.entries(some).every(([key, value]) => isDeepStrictEqual(all[key], value))
  return (
    has(metadata.labels, labels) &&
    has(metadata.annotations, annotations) &&
    ownerReferences.every(({ uid, controller }) =>
      metadata.ownerReferences.some(
        (owner) => owner.uid === uid && owner.controller === controller,
      ),
    ) &&
    has(object.spec as Record<string, unknown>, wanted.spec as object)
  )
}
