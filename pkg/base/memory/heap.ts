import { setFlagsFromString } from 'node:v8'
import { giveMemoryBack } from './garbage.ts'

/**
 * The option of Node that programs with a catalog are started with: a young generation of at most 4 MB a half. Requests
 * leave little behind, so the default of 64 MB only costs memory; with 1 MB it is cleared at every 60th request.
 */
export const nodeOptions = '--max-semi-space-size=4'

/**
 * What the image's environment says to the allocator of the C library: threads share one arena, and what is 128 kB or more
 * goes back to the system when it is free. By itself each thread gets an arena, which keeps what it once needed, 14 MB in
 * all; and once something large was free, all that is smaller stays, up to 32 MB: 3 to 9 MB.
 */
export const allocatorEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
} as const

/**
 * How much the heap may grow beyond what lives before it is cleared, in percent. V8 by itself lets it grow threefold while
 * a list is read, which stays with the process afterwards: 400 MB instead of 285 with 200,000 Versions.
 */
const growthPercent = 25

/**
 * Keeps requests from becoming dearer after a full collection, which otherwise happens by chance and lasts. By itself V8
 * learns which objects live long, and makes all that come from the same place among the old ones: where those are parts of
 * a request, there is a full collection each second, a third of a request. To be called first of all.
 */
export function keepRequestsCheap(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * Sizes the heap for a server whose memory is its catalog. To be called first of all: what follows collects garbage more
 * often than Node does by itself.
 */
export function limitHeap(): void {
  keepRequestsCheap()
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
  // What a compiler needed is given back once it is done. By itself V8 leaves that to another thread, which comes to it
  // late where requests take the processor: dozens of functions add up, 6 to 10 MB that the C library keeps.
  setFlagsFromString('--no-maglev-destroy-on-background')
  const given = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv]
  // Node was started with the option for it.
  if (given.some((option) => option.includes('--max-semi-space-size'))) return
  // A running V8 takes no new maximum any more, but it can be kept from growing.
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * To be called when the catalog is filled, and before requests are answered from it. What reading it has left behind is
 * given back: with 200,000 Versions 45 MB in 230 ms.
 *
 * Requests leave next to nothing behind, and four threads that are woken to clear it cost more than the clearing: a tenth
 * of a request. A list that is being read leaves more than one thread should clear.
 *
 * From then on each full collection moves what lives together and gives the pages between back, which otherwise stay for
 * the next list: 12 MB of 127 under load, and 300 of 850 where 100,000 Versions were read again twice.
 */
export function expectRequests(): void {
  giveMemoryBack()
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString('--memory-saver-mode')
}
