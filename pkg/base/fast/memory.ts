import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isPlain } from './plain.ts'

/**
 * The options of Node that the image and `make run` start programs with: a young generation of 4 MB a half, which may grow to
 * 16 MB during a load. Requests leave little behind, so the default of 64 MB only costs memory; with 1 MB it is cleared at
 * every 60th request.
 *
 * @see https://nodejs.org/api/cli.html#--max-semi-space-sizesize-in-mib
 */
export const nodeOptions = ['--min-semi-space-size=4', '--max-semi-space-size=16'] as const

/** Lets the young generation grow no further. One that has grown is small again after a collection of {@link giveMemoryBack}. */
export function keepYoungGeneration(): void {
  if (isPlain()) return
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Environment of the image for the allocator of the C library: threads share one arena, and blocks of 128 kB or more go
 * back to the system when they are free.
 *
 * @see https://man7.org/linux/man-pages/man3/mallopt.3.html
 */
export const allocatorEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
} as const

/**
 * Returns V8's garbage collector. It is available only in contexts that are created after the flag is set.
 *
 * @see https://nodejs.org/api/cli.html#--expose-gc
 */
export function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as NodeJS.GCFunction
}

/**
 * Bounds the heap tightly, collects all garbage, compacts the heap, and returns free memory to the system. It blocks the
 * process for a second per GB of heap, so call it when the catalog is filled, before requests are answered.
 */
export function giveMemoryBack(): void {
  if (isPlain()) return
  // The collection decides how far the heap may grow until the next one.
  limitHeap(10)
  collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/**
 * Bounds the heap of a process whose memory is its records. V8 allocates objects in the old generation if earlier objects of
 * the same code lived long. Garbage of requests then stays until a full collection. A load costs more under these bounds, so
 * a server sets them when its catalog is filled.
 *
 * @param growthPercent growth between two full collections; V8's default is several times higher
 */
export function limitHeap(growthPercent = 25): void {
  if (isPlain()) return
  keepYoungGeneration()
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
