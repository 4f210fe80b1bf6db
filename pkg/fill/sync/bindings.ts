import { isDeepStrictEqual } from 'node:util'
import { formatPath, type GroupBinding, parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { ApiError, type Objects, type StoredObject } from '../../records/store/store.ts'
import { Queue } from '../queue/queue.ts'
import {
  type AnyStatus,
  type ConditionState,
  conditionFalse,
  conditionTrue,
  withConditions,
} from './status.ts'
import { timeOf } from './timings.ts'

interface BindingsOptions {
  /** Compiles a binding as the server does. */
  readonly compile: (binding: GroupBinding) => CompiledRule
  /** The GroupBindings of the only namespace where they are evaluated. */
  readonly objects: Pick<Objects, 'get' | 'list' | 'onChange' | 'writeStatus'>
  readonly namespace: string
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** @see compileBinding of `registry/access` */
interface CompiledRule {
  readonly problem: string | undefined
  /** An Error if the expression does not compile. */
  readonly rule: object
}

/**
 * Reports in the condition `Ready` of each GroupBinding whether servers can evaluate it: first of every existing one, then after
 * each change, one at a time.
 */
export function startBindings(options: BindingsOptions): { stop(): Promise<void> } {
  const { objects, namespace, log, metrics } = options
  const queue = new Queue({
    kind: 'GroupBinding',
    workers: 1,
    reconcile: (name) => writeCondition(options, objects.get('GroupBinding', namespace, name)),
    log,
    metrics,
  })
  const forget = objects.onChange(({ name }) => queue.add(name, 'user'))
  for (const { metadata } of objects.list('GroupBinding')) queue.add(metadata.name, 'listing')
  queue.start()
  return {
    async stop() {
      forget()
      await queue.stop()
    },
  }
}

async function writeCondition(
  { objects, clock, compile }: BindingsOptions,
  binding: StoredObject | undefined,
): Promise<void> {
  if (binding === undefined) return
  const { generation } = binding.metadata
  const status = (binding.status ?? {}) as AnyStatus
  const before = status.conditions
  const conditions = withConditions(
    Array.isArray(before) ? before : undefined,
    { Ready: stateOf(binding, compile) },
    { generation, now: timeOf(clock()) },
  )
  if (isDeepStrictEqual(conditions, before)) return
  try {
    await objects.writeStatus(binding, { ...status, conditions })
  } catch (error) {
    // The watch brings the new state, or the deletion.
    const isOutdated = error instanceof ApiError && ['Conflict', 'NotFound'].includes(error.reason)
    if (!isOutdated) throw error
  }
}

function stateOf(binding: StoredObject, compile: BindingsOptions['compile']): ConditionState {
  const parsed = parseResource('GroupBinding', { ...binding, status: undefined })
  if (!parsed.ok) {
    const [{ path, message } = { path: [], message: 'cannot be read' }] = parsed.issues
    return conditionFalse('InvalidSpec', `${formatPath(path)} ${message}`)
  }
  const { problem, rule } = compile(parsed.resource)
  if (problem === undefined) {
    return conditionTrue('Compiled', 'The expression and the patterns can be evaluated.')
  }
  return conditionFalse(rule instanceof Error ? 'InvalidExpression' : 'InvalidSpec', problem)
}
