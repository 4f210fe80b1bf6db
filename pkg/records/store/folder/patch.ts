import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import { ApiError, type JsonPatchOperation, type ObjectPatch } from '../../kube/kube.ts'

type Fields = Readonly<Record<string, unknown>>

/** Applies a patch to an object. @throws ApiError Invalid if a test fails, or a path does not exist */
export function patched(object: Fields, patch: ObjectPatch): Fields {
  if (!isOperations(patch)) return merged(object, patch)
  return patch.reduce<Fields>((state, operation) => {
    const path = operation.path.split('/').slice(1).map(unescaped)
    const result = operated(state, path, operation)
    return isRecord(result) ? result : state
  }, object)
}

/** Applies a merge patch (RFC 7396). */
function merged(target: unknown, patch: Fields): Fields {
  const fields = Object.entries(patch).reduce<Map<string, unknown>>(
    (all, [field, value]) => {
      if (value === null) all.delete(field)
      else all.set(field, isRecord(value) ? merged(all.get(field), value) : value)
      return all
    },
    new Map(Object.entries(isRecord(target) ? target : {})),
  )
  return Object.fromEntries(fields)
}

/** Applies a JSON patch (RFC 6902) to fields of objects. No reconciler patches an item of a list. */
function operated(
  target: unknown,
  path: readonly string[],
  operation: JsonPatchOperation,
): unknown {
  const [step, ...rest] = path
  const { op, value } = operation
  if (step === undefined) {
    if (op !== 'test') return value
    if (isDeepStrictEqual(target, value)) return target
    throw invalid(operation, 'has another value')
  }
  const isLast = rest.length === 0
  if (!isRecord(target)) throw invalid(operation, 'does not exist')
  if (!(step in target) && !(isLast && op === 'add')) throw invalid(operation, 'does not exist')
  if (isLast && op === 'remove') {
    const { [step]: _, ...others } = target
    return others
  }
  return { ...target, [step]: operated(target[step], rest, operation) }
}

function invalid({ op, path }: JsonPatchOperation, why: string): ApiError {
  return new ApiError('Invalid', `the patch does not fit: ${op} ${path}: ${why}`)
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function isOperations(patch: ObjectPatch): patch is readonly JsonPatchOperation[] {
  return Array.isArray(patch)
}
