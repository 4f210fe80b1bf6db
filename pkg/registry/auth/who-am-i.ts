import type { WhoAmI } from '../../api/browse/browse.ts'
import type { AccessDecision } from '../access/access.ts'
import type { Caller } from './session.ts'

const access = {
  anonymous: 'everything: this server does not ask who its callers are',
  guest: 'what is public: log in to see more',
  passthrough:
    "what the cluster's RBAC rules let these credentials read; browsing shows what is public",
}

/** @param decision of the GroupBindings, if they apply to the caller */
export function describe(caller: Caller, decision: AccessDecision | undefined): WhoAmI {
  const { mode, kind, subject, groups } = caller
  const who = { mode, kind, ...(subject !== undefined && { subject }), groups }
  if (kind === 'anonymous' || kind === 'guest' || kind === 'passthrough') {
    return { ...who, access: access[kind] }
  }
  if (decision?.kind === 'matched') {
    const { name, spec } = decision.binding
    const { moduleResources = [], providerResources = [] } = spec
    return {
      ...who,
      access: 'what is public, and what the binding allows',
      binding: { name, moduleResources, providerResources },
    }
  }
  if (decision?.kind === 'failed') {
    const { name, error } = decision
    return {
      ...who,
      access:
        'nothing: a GroupBinding could not be evaluated, and what it would have said is unknown',
      failedBinding: { name, error: error.code },
    }
  }
  return { ...who, access: 'what is public: no GroupBinding matches these groups' }
}
