import type { Decision } from '../access/access.ts'
import type { Caller } from './caller.ts'
import type { GroupBindings } from './group-bindings.ts'
import type { Presented } from './passthrough.ts'

/** A caller, with what follows from who it is. */
export interface Session {
  readonly caller: Caller
  /** Only of `passthrough`: what the cluster will be shown. */
  readonly presented?: Presented
  /** What the GroupBindings said last, and as of when. */
  decided?: { readonly revision: number; readonly decision: Decision }
}

/** Finds out who sent a request. At once where that is known already. */
export interface Callers {
  /**
   * @param authorization the header of that name
   * @throws Refusal
   */
  identify(authorization: string | undefined): Session | Promise<Session>
  /** The caller, where that is known without waiting and without an error. */
  known(authorization: string | undefined): Session | undefined
}

/** What the GroupBindings say about a caller, remembered with it until one of them changes. */
export function decisionFor(session: Session, bindings: GroupBindings): Decision {
  const { revision } = bindings
  if (session.decided?.revision !== revision) {
    session.decided = { revision, decision: bindings.decide(session.caller.groups) }
  }
  return session.decided.decision
}
