import { setFlagsFromString } from 'node:v8'

/** Sizes the heap for a server whose memory is its catalog. */
export function limitHeap(): void {
  // Requests leave little behind, so a young generation that grows to its default of 64 MB a half only costs memory.
  // A running V8 takes no new maximum any more, but it can be told not to grow.
  setFlagsFromString('--semi-space-growth-factor=1')
}
