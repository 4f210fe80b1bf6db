import type { Context } from 'hono'
import type { ParentKind, PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import type { Objects } from '../../records/store/store.ts'
import { addressText, claimsOf, newName, type PublishAddress } from './target.ts'

/** A module or provider that a caller wants to publish. */
interface PublishSubject {
  readonly kind: ParentKind
  readonly namespace: string
  /** metadata.name */
  readonly name: string
  /** Whether it would be created, which the caller has to be allowed, too. */
  readonly isNew: boolean
}

/** Decides who publishes. */
export interface PublishGuard {
  readonly objects: Objects
  /** Module from whose config a missing one is created: `NAME` or `NAMESPACE/NAME`. Undefined: none is created. */
  readonly template?: string | undefined
  /**
   * The caller, if it may write Versions of a module or provider; undefined if it may not.
   *
   * @throws RegistryError if the caller is unknown
   */
  readonly publisherOf: (
    c: Context<ServingEnv>,
    subject: PublishSubject,
  ) => Promise<PublishedBy | undefined>
}

/** The answer says nothing about modules and providers to callers who may not publish them. @throws RegistryError Forbidden */
export async function requireRight(
  { objects, publisherOf, template }: PublishGuard,
  c: Context<ServingEnv>,
  address: PublishAddress,
): Promise<PublishedBy> {
  const { namespace, system } = address
  const kind = system === undefined ? 'Provider' : 'Module'
  const found = claimsOf(objects, address)[0]?.metadata.name
  const isNew = found === undefined && kind === 'Module' && template !== undefined
  const checked = found ?? newName(objects, kind, address)
  const publisher = await publisherOf(c, { kind, namespace, name: checked, isNew })
  if (publisher !== undefined) return publisher
  throw new RegistryError(
    'Forbidden',
    `you may not publish ${addressText(address)}: ask for a GroupBinding that has the namespace in publishNamespaces and the ${kind} in publish${kind}s, or, with credentials of the cluster, for a right to create versions${isNew ? ' and modules' : ''} there`,
  )
}
