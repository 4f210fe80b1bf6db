import type { Decision, GroupBindings } from '../access/access.ts'
import type { Caller } from './caller.ts'
import { Refusal } from './refusal.ts'

/** Credentials as they came, and what to call them. */
export interface Presented {
  readonly format: 'token' | 'kubeconfig'
  /** What stood behind the scheme of the header. */
  readonly token: string
  /** Of the token, keyed; stands for the credentials in every key. */
  readonly hash: string
}

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
   * @param token what stood behind `Bearer`; undefined where there was no header
   * @param hash of the token, keyed; '' where there was none
   * @throws Refusal
   */
  identify(token: string | undefined, hash: string): Session | Promise<Session>
  /** The caller, where that is known without waiting and without an error. */
  known(token: string | undefined, hash: string): Session | undefined
}

/** Enough of a hash to tell callers apart in a log. */
export function callerHashOf(hash: string): string {
  return hash.slice(0, 12)
}

/** A caller whom only the cluster knows. */
export function passthroughSession(
  mode: 'kubeconfig' | 'bearer' | 'oidc',
  presented: Presented,
): Session {
  const hash = callerHashOf(presented.hash)
  return {
    caller: { mode, kind: 'passthrough', subject: undefined, groups: [], hash },
    presented,
  }
}

const howTo = {
  kubeconfig:
    'send "Authorization: Bearer" with the base64 of a kubeconfig (kubectl config view --raw --minify --flatten | base64 -w0)',
  bearer:
    'send "Authorization: Bearer" with a service-account token (kubectl create token NAME --namespace NAMESPACE)',
}

/** Callers whom the cluster knows: who they are is its business, and what they may. */
export function clusterCallers(mode: 'kubeconfig' | 'bearer'): Callers {
  const format = mode === 'kubeconfig' ? 'kubeconfig' : 'token'
  const known = (token: string | undefined, hash: string): Session | undefined =>
    token === undefined ? undefined : passthroughSession(mode, { format, token, hash })
  return {
    known,
    identify(token, hash) {
      const session = known(token, hash)
      if (session !== undefined) return session
      throw new Refusal('missing', `credentials are needed: ${howTo[mode]}`)
    },
  }
}

/** What the GroupBindings say about a caller, remembered with it until one of them changes. */
export function decisionFor(session: Session, bindings: GroupBindings): Decision {
  const { revision } = bindings
  if (session.decided?.revision !== revision) {
    session.decided = { revision, decision: bindings.decide(session.caller.groups) }
  }
  return session.decided.decision
}
