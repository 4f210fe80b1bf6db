import type { PublishRight } from '../../api/browse/browse.ts'
import type { PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import { allowsPublishing, publishRightsOf } from '../access/access.ts'
import type { AuthRequest } from './callers.ts'
import { maxUserBytes, type Passthrough } from './passthrough.ts'
import type { CallerSession, CallerView, ResourceKey } from './session.ts'

/** Finds out who calls. */
export interface CallerQuestions {
  /** Identifies the caller of a request, answers a question about it, and counts both. @throws RegistryError */
  answer<T>(
    request: AuthRequest,
    answer: (session: CallerSession) => T | Promise<T>,
  ): T | Promise<T>
  /** The decision of the GroupBindings about a caller. @throws Refusal where one cannot be evaluated */
  viewOf(session: CallerSession): CallerView
  /** Whether it is a guest of a server whose other callers the cluster knows. */
  isGuest(request: AuthRequest): boolean
  /** Knows callers whose session has `presented`. */
  cluster(): Passthrough
}

/**
 * Decides who may publish: the GroupBindings do for callers with a token of an issuer, and the cluster's RBAC rules for its
 * own callers. Callers who are not identified may not.
 */
export class Publishers {
  readonly #callers: CallerQuestions

  constructor(callers: CallerQuestions) {
    this.#callers = callers
  }

  /**
   * Whether the caller may write Versions of a module or provider.
   *
   * @param name metadata.name of the Module or Provider
   * @throws RegistryError as `Auth.mayRead`
   */
  mayPublish(request: AuthRequest, ...resource: ResourceKey): boolean | Promise<boolean> {
    return this.#callers.answer(request, (session) => this.#may(session, resource))
  }

  /**
   * As `mayPublish`, and says who it is; undefined if the caller may not.
   *
   * @param isNew whether the Module or Provider would be created, for which the cluster has a right of its own
   */
  async publisherOf(
    request: AuthRequest,
    resource: ResourceKey,
    isNew = false,
  ): Promise<PublishedBy | undefined> {
    return await this.#callers.answer(request, async (session) => {
      if (!(await this.#may(session, resource, isNew))) return undefined
      const { presented, caller } = session
      if (presented !== undefined) return this.#callers.cluster().identityOf(presented)
      const by = caller.subject && printable(caller.subject, maxUserBytes)
      return { by, ...caller.origin }
    })
  }

  /**
   * The namespaces that the caller may publish to.
   *
   * @param asked the namespaces that the cluster is asked about for callers that only it knows
   * @throws RegistryError as `Auth.mayRead`
   */
  rightsOf(
    request: AuthRequest,
    asked: readonly string[],
  ): PublishRight[] | Promise<PublishRight[]> {
    if (this.#callers.isGuest(request)) return []
    return this.#callers.answer(request, (session) => {
      const { presented } = session
      if (presented !== undefined) return this.#callers.cluster().publishRights(presented, asked)
      const view = this.#callers.viewOf(session)
      return typeof view === 'string' ? [] : publishRightsOf(view)
    })
  }

  #may(
    session: CallerSession,
    [kind, namespace, name]: ResourceKey,
    isNew = false,
  ): boolean | Promise<boolean> {
    const { presented } = session
    if (presented !== undefined) {
      return this.#callers.cluster().mayPublish(presented, namespace, isNew ? [kind] : [])
    }
    const view = this.#callers.viewOf(session)
    return typeof view !== 'string' && allowsPublishing(view, kind, namespace, name)
  }
}
