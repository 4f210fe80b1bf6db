import { type LoggedRequest, type OnRequest, pathOf } from '../../pkg/base/serving/serving.ts'
import type { AuditLog } from '../../pkg/base/telemetry/telemetry.ts'

type Outcome = Parameters<AuditLog['write']>[0]['outcome']

/** OpenID Connect allows 255 characters. */
const longestSubject = 256

/** Writes an audit line for each request for an archive or its location. */
export function auditOf(audit: AuditLog): OnRequest {
  return (request) => {
    const { facts, requestId, status, remoteAddress: remoteAddr, url } = request
    const { route, namespace, kind, name, version, subject, callerHash, view } = facts
    if (route === undefined || !route.includes('/download')) return
    const outcome = outcomeOf(request)
    const who = { subject: subject?.slice(0, longestSubject), callerHash, view, remoteAddr }
    const what = { route, kind, namespace, name, version, path: pathOf(url) }
    audit.write({ requestId, outcome, status, ...who, ...what })
  }
}

function outcomeOf({ status, isAborted }: LoggedRequest): Outcome {
  if (isAborted) return 'aborted'
  if (status === 304) return 'unchanged'
  if (status < 300) return 'served'
  if (status < 400) return 'redirected'
  if (status === 401 || status === 403) return 'refused'
  return status < 500 ? 'not found' : 'failed'
}
