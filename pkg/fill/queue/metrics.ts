import { counter, gauge, histogram, oncePer } from '../../base/telemetry/telemetry.ts'
import { type Priority, priorities } from './lanes.ts'

/** Values of a queue that are read at each scrape. */
interface QueueValues {
  readonly kind: string
  depth(priority: Priority): number
  oldestSeconds(): number
  failing(): number
}

/** The metrics of all queues of a process, one for each kind. */
export const queueMetrics = oncePer((metrics) => {
  const queues = new Map<string, QueueValues>()
  const perQueue = (name: string, help: string, read: (queue: QueueValues) => number) =>
    gauge(metrics, {
      name,
      help,
      labels: ['kind'],
      collect: (it) => {
        for (const queue of queues.values()) it.set({ kind: queue.kind }, read(queue))
      },
    })
  gauge(metrics, {
    name: 'sync_queue_depth',
    help: 'Objects that wait for a worker.',
    labels: ['kind', 'priority'],
    collect: (it) => {
      for (const queue of queues.values()) {
        for (const priority of priorities) {
          it.set({ kind: queue.kind, priority }, queue.depth(priority))
        }
      }
    },
  })
  perQueue(
    'sync_queue_oldest_seconds',
    'Longest time that an object has waited for a worker.',
    (queue) => queue.oldestSeconds(),
  )
  perQueue(
    'sync_queue_failing',
    'Objects whose last work failed and that wait for the next attempt.',
    (queue) => queue.failing(),
  )
  return {
    /** The latest queue of a kind is shown. */
    show: (queue: QueueValues) => void queues.set(queue.kind, queue),
    duration: histogram(metrics, {
      name: 'sync_duration_seconds',
      help: 'Time of the work on one object.',
      labels: ['kind'],
      buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800],
    }),
    retries: counter(metrics, {
      name: 'sync_retries_total',
      help: 'Failed work on an object that is tried again.',
      labels: ['kind'],
    }),
  }
})
