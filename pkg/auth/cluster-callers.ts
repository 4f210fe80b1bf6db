import { Refusal } from './refusal.ts'
import type { Callers, Session } from './session.ts'

const howTo = {
  kubeconfig:
    'send "Authorization: Bearer" with the base64 of a kubeconfig (kubectl config view --raw --minify --flatten | base64 -w0)',
  bearer:
    'send "Authorization: Bearer" with a service-account token (kubectl create token NAME --namespace NAMESPACE)',
}

/** Callers whom the cluster knows: who they are is its business, and what they may. */
export function clusterCallers(
  mode: 'kubeconfig' | 'bearer',
  keyedHash: (text: string) => string,
): Callers {
  const format = mode === 'kubeconfig' ? 'kubeconfig' : 'token'
  const known = (authorization: string | undefined): Session | undefined =>
    authorization === undefined
      ? undefined
      : passthroughSession(mode, format, authorization, keyedHash(authorization))
  return {
    known,
    identify(authorization) {
      const session = known(authorization)
      if (session !== undefined) return session
      throw new Refusal('missing', `credentials are needed: ${howTo[mode]}`)
    },
  }
}

export function passthroughSession(
  mode: 'kubeconfig' | 'bearer' | 'oidc',
  format: 'token' | 'kubeconfig',
  authorization: string,
  hash: string,
): Session {
  return {
    caller: {
      mode,
      kind: 'passthrough',
      subject: undefined,
      groups: [],
      hash: hash.slice(0, hashCharacters),
    },
    presented: { format, authorization, hash },
  }
}

/** Enough to tell callers apart in a log. */
export const hashCharacters = 12
