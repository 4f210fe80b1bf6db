import { counter, gauge, histogram, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { Priority } from './queue.ts'

/** What a queue shows of itself at each scrape. */
interface Shown {
  readonly kind: string
  depth(priority: Priority): number
  oldestSeconds(): number
  failing(): number
}

const priorities: readonly Priority[] = ['user', 'listing', 'poll']
/** Metrics exist once in a process, and queues for each kind. */
const known = new WeakMap<Metrics, ReturnType<typeof createQueueMetrics>>()

export function queueMetrics(metrics: Metrics): ReturnType<typeof createQueueMetrics> {
  const made = known.get(metrics) ?? createQueueMetrics(metrics)
  known.set(metrics, made)
  return made
}

function createQueueMetrics(metrics: Metrics) {
  const queues = new Map<string, Shown>()
  const perQueue = (name: string, help: string, read: (queue: Shown) => number) =>
    gauge(metrics, { name, help, labels: ['kind'] }, (it) => {
      for (const queue of queues.values()) it.set({ kind: queue.kind }, read(queue))
    })
  gauge(
    metrics,
    {
      name: 'sync_queue_depth',
      help: 'Objects that wait to be worked on.',
      labels: ['kind', 'priority'],
    },
    (it) => {
      for (const queue of queues.values()) {
        for (const priority of priorities) {
          it.set({ kind: queue.kind, priority }, queue.depth(priority))
        }
      }
    },
  )
  perQueue(
    'sync_queue_oldest_seconds',
    'How long the object that waits longest for a worker has waited.',
    (queue) => queue.oldestSeconds(),
  )
  perQueue(
    'sync_queue_failing',
    'Objects whose last work failed and that wait for the next try.',
    (queue) => queue.failing(),
  )
  return {
    /** Of two queues of a kind the later one is shown. */
    show: (queue: Shown) => void queues.set(queue.kind, queue),
    duration: histogram(
      metrics,
      {
        name: 'sync_duration_seconds',
        help: 'Time to bring one object to where it should be.',
        labels: ['kind'],
      },
      [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800],
    ),
    retries: counter(metrics, {
      name: 'sync_retries_total',
      help: 'Work on an object that failed and is tried again.',
      labels: ['kind'],
    }),
  }
}
