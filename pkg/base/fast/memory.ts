import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isPlain } from './plain.ts'

/**
 * The option of Node that the image and `make run` start programs with: a young generation of at most 4 MB a half. Requests
 * leave little behind, so the default of 64 MB only costs memory; with 1 MB it is cleared at every 60th request.
 *
 * @see https://nodejs.org/api/cli.html#--max-semi-space-sizesize-in-mib
 */
export const nodeOptions = '--max-semi-space-size=4'

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
 * Gives V8's garbage collector, which programs have to ask for; it is in contexts that are made afterwards.
 *
 * @see https://nodejs.org/api/cli.html#--expose-gc
 */
export function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as NodeJS.GCFunction
}

/**
 * Collects all garbage, moves what is left together, and returns the memory between to the system. To be called once the
 * catalog is filled, before requests are answered: it takes a second for each GB of heap, in which nothing else runs.
 */
export function giveMemoryBack(): void {
  if (isPlain()) return
  collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** How much the heap may grow between two collections of all of it, in percent; V8's own limit is several times that. */
const growthPercent = 25

/**
 * Bounds the heap of a server whose memory is its catalog. By itself V8 creates objects among the old ones if others of the
 * same code have lived long, and such garbage of requests stays until the whole heap is collected. To be called first of all.
 */
export function limitHeap(): void {
  if (isPlain()) return
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
