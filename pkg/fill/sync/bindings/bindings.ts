import { isDeepStrictEqual } from 'node:util'
import {
  type Condition,
  formatPath,
  type GroupBinding,
  parseResource,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../../base/telemetry/telemetry.ts'
import { ApiError, type Cluster, type KubeClient } from '../../../records/kube/kube.ts'
import { createQueue, type Queue } from '../../queue/queue.ts'
import {
  type ConditionState,
  conditionFalse,
  conditionTrue,
  withConditions,
} from '../conditions.ts'
import { timeOf } from '../context.ts'
import { KnownBindings, type ObservedBinding } from './known-bindings.ts'

export interface BindingsOptions {
  /** Compiles a binding as the server does. */
  readonly compile: (binding: GroupBinding) => CompiledBinding
  readonly cluster: Pick<Cluster, 'observe'>
  /** What writes; it may refuse to, while this replica must not. */
  readonly client: KubeClient
  /** The one namespace whose GroupBindings count. */
  readonly namespace: string
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: Date.now. */
  readonly clock?: Clock
}

/** @see compileBinding of `registry/access` */
interface CompiledBinding {
  readonly problem: string | undefined
  /** An Error if the expression does not compile. */
  readonly rule: object
}

/** The conditions of GroupBindings. */
export interface Bindings {
  /** Begins to write, about all that are there and then about each that changes. One at a time. */
  start(): { stop(): Promise<void> }
}

/** Says in the condition `Ready` of each GroupBinding whether servers can evaluate it. Watches at once, writes once started. */
export function watchBindings(options: BindingsOptions): Bindings {
  const { cluster, namespace, log, metrics } = options
  const known = new KnownBindings()
  cluster.observe({
    kinds: ['GroupBinding'],
    scope: { watchNamespace: namespace, bindingsNamespace: namespace },
    storeOf: () => known,
  })
  return {
    start() {
      const queue: Queue = createQueue({
        kind: 'GroupBinding',
        workers: 1,
        reconcile: (name) => writeCondition(options, known.get(name)),
        log,
        metrics,
      })
      const forget = known.onChange((name) => queue.add(name, 'user'))
      for (const name of known.names()) queue.add(name, 'listing')
      queue.start()
      return {
        async stop() {
          forget()
          await queue.stop()
        },
      }
    },
  }
}

async function writeCondition(
  { client, namespace, compile, clock = Date.now }: BindingsOptions,
  binding: ObservedBinding | undefined,
): Promise<void> {
  if (binding === undefined) return
  const { name, resourceVersion, generation } = binding.metadata
  const conditions = withConditions(
    conditionsOf(binding),
    { Ready: stateOf(binding, compile) },
    { generation, now: timeOf(clock()) },
  )
  if (isDeepStrictEqual(conditions, binding.status?.conditions)) return
  try {
    await client.writeStatus(
      { kind: 'GroupBinding', namespace, name, resourceVersion },
      { ...binding.status, conditions },
    )
  } catch (error) {
    // The watch brings what it is now, or that it is gone.
    const isOutdated = error instanceof ApiError && ['Conflict', 'NotFound'].includes(error.reason)
    if (!isOutdated) throw error
  }
}

function stateOf(binding: ObservedBinding, compile: BindingsOptions['compile']): ConditionState {
  const parsed = parseResource('GroupBinding', { ...binding, status: undefined })
  if (parsed.ok) return stateOfCompiled(compile(parsed.resource))
  const [{ path, message } = { path: [], message: 'cannot be read' }] = parsed.issues
  return conditionFalse('InvalidSpec', `${formatPath(path)} ${message}`)
}

function stateOfCompiled({ problem, rule }: CompiledBinding): ConditionState {
  if (problem === undefined) {
    return conditionTrue('Compiled', 'The expression and the patterns can be evaluated.')
  }
  return conditionFalse(rule instanceof Error ? 'InvalidExpression' : 'InvalidSpec', problem)
}

function conditionsOf({ status }: ObservedBinding): readonly Condition[] | undefined {
  return Array.isArray(status?.conditions) ? status.conditions : undefined
}
