import type { Context } from 'hono'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { ArchiveError } from '../../archives/archive/archive.ts'
import {
  codeOf,
  mayPass,
  type Reason,
  ReasonError,
  RegistryError,
  unavailable,
} from '../../base/errors/errors.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import { FillError } from '../sources/sources.ts'
import type { PublishParts } from './publish-parts.ts'

/** The status of a refusal. The others are 422: the archive has to change. */
const statusOfReason: Partial<Record<Reason, 404 | 409 | 413>> = {
  NoParent: 404,
  VersionExists: 409,
  ReleaseIncomplete: 409,
  NoStorage: 409,
  StorageNotGranted: 409,
  ArchiveTooLarge: 413,
}

const ofDisk: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

/** Reasons for which the cluster does not take an object, such as a quota, or the spool an archive. */
const ofOperator: ReadonlySet<Reason> = new Set([
  'Forbidden',
  'Invalid',
  'AlreadyExists',
  'TooLarge',
  'ArchiveTooLarge',
])

/** An error with several causes. */
export class Refused extends Error {
  readonly errors: readonly ReasonError[]

  constructor(errors: readonly ReasonError[]) {
    super(errors.map(({ message }) => message).join('; '))
    this.errors = errors
  }
}

/** Answers and counts every refusal of a route in the same way. */
export function counted<C extends Context<ServingEnv>>(
  kind: ParentKind,
  { metrics, log }: Pick<PublishParts, 'metrics' | 'log'>,
  handler: (c: C) => Promise<Response>,
): (c: C) => Promise<Response> {
  return async (c) => {
    try {
      return await handler(c)
    } catch (thrown) {
      const error = answerable(thrown)
      const errors = error instanceof Refused ? error.errors : [error]
      metrics.failed(kind, errors[0])
      const explained = errors.filter(isExplained)
      if (explained.length === 0) throw error
      const operated = explained.find(isOfOperator)
      if (operated !== undefined) log.warn({ err: operated }, 'a publication failed')
      return refusal(explained)
    }
  }
}

/** Turns failures of the disk and the API server into an answer that lets the caller send again. */
function answerable(thrown: unknown): unknown {
  if (ofDisk.has(codeOf(thrown))) {
    return unavailable('the disk of the controller cannot take the files', thrown)
  }
  const isOfService = thrown instanceof ReasonError && !isOfRefusal(thrown)
  return isOfService && !(thrown instanceof RegistryError) && mayPass(thrown.reason)
    ? unavailable('the cluster does not take the version at the moment', thrown)
    : thrown
}

const isOfRefusal = (error: unknown): boolean =>
  error instanceof FillError || error instanceof ArchiveError

/** A refusal of the cluster or the spool, which its operator has to know, too. */
const isOfOperator = (error: unknown): error is ReasonError =>
  error instanceof ReasonError &&
  !isOfRefusal(error) &&
  !(error instanceof RegistryError) &&
  ofOperator.has(error.reason)

const isExplained = (error: unknown): error is ReasonError =>
  isOfRefusal(error) || isOfOperator(error)

export const answer = (status: number, body: object): Response =>
  Response.json(body, { status, headers: { 'Cache-Control': 'no-store' } })

/** All problems, in the format of every error of the registry. */
function refusal(errors: readonly ReasonError[]): Response {
  const [first] = errors
  const isLater = first !== undefined && mayPass(first.reason)
  const status = isLater ? 503 : ((first && statusOfReason[first.reason]) ?? 422)
  const refusals = errors.map(({ reason, message }) => ({ reason, message }))
  const body = { errors: refusals.map(({ message }) => message), refusals }
  const headers = { 'Cache-Control': 'no-store', ...(isLater && { 'Retry-After': '5' }) }
  return Response.json(body, { status, headers })
}
