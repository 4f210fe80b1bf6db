import { isDeepStrictEqual } from 'node:util'
import {
  type Condition,
  formatPath,
  type GroupBinding,
  parseResource,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import {
  ApiError,
  type Cluster,
  type KubeClient,
  type ObservedObject,
  ObservedObjects,
} from '../../records/kube/kube.ts'
import { Queue } from '../queue/queue.ts'
import { type ConditionState, conditionFalse, conditionTrue, withConditions } from './status.ts'
import { timeOf } from './timings.ts'

interface BindingsOptions {
  /** Compiles a binding as the server does. */
  readonly compile: (binding: GroupBinding) => CompiledRule
  readonly cluster: Pick<Cluster, 'observe'>
  /** Writes statuses; it may refuse to write while this replica is not the leader. */
  readonly client: KubeClient
  /** The only namespace whose GroupBindings are evaluated. */
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

/** The conditions of GroupBindings. */
interface Bindings {
  /** Begins to write: first for every existing binding, then after each change, one at a time. */
  start(): { stop(): Promise<void> }
}

/** Reports in the condition `Ready` of each GroupBinding whether servers can evaluate it. Watches at once, writes once started. */
export function watchBindings(options: BindingsOptions): Bindings {
  const { cluster, namespace, log, metrics } = options
  const known = new Map<string, ObservedBinding>()
  let onChange: ((name: string) => void) | undefined
  const store = new ObservedObjects<ObservedBinding>((name, binding) => {
    if (binding === undefined) known.delete(name)
    else known.set(name, binding)
    onChange?.(name)
  })
  cluster.observe({
    kinds: ['GroupBinding'],
    scope: { watchNamespace: namespace, bindingsNamespace: namespace },
    storeOf: () => store,
  })
  return {
    start() {
      const queue = new Queue({
        kind: 'GroupBinding',
        workers: 1,
        reconcile: (name) => writeCondition(options, known.get(name)),
        log,
        metrics,
      })
      onChange = (name) => queue.add(name, 'user')
      for (const name of known.keys()) queue.add(name, 'listing')
      queue.start()
      return {
        async stop() {
          onChange = undefined
          await queue.stop()
        },
      }
    },
  }
}

/** A GroupBinding as the cluster has it, with the status that others wrote. */
interface ObservedBinding extends ObservedObject {
  readonly metadata: ObservedObject['metadata'] & { readonly generation: number }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

async function writeCondition(
  { client, namespace, clock, compile }: BindingsOptions,
  binding: ObservedBinding | undefined,
): Promise<void> {
  if (binding === undefined) return
  const { name, resourceVersion, generation } = binding.metadata
  const before = binding.status?.conditions
  const conditions = withConditions(
    Array.isArray(before) ? before : undefined,
    { Ready: stateOf(binding, compile) },
    { generation, now: timeOf(clock()) },
  )
  if (isDeepStrictEqual(conditions, before)) return
  try {
    await client.writeStatus(
      { kind: 'GroupBinding', namespace, name, resourceVersion },
      { ...binding.status, conditions },
    )
  } catch (error) {
    // The watch brings the new state, or the deletion.
    const isOutdated = error instanceof ApiError && ['Conflict', 'NotFound'].includes(error.reason)
    if (!isOutdated) throw error
  }
}

function stateOf(binding: ObservedBinding, compile: BindingsOptions['compile']): ConditionState {
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
