import { unavailable } from './deadline.ts'

/** Runs work as soon as one of a few places is free, in the order in which it was asked for. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

/**
 * @param options.parallel how much runs at once
 * @param options.waiting how many may wait; whoever comes then is told to come again (Unavailable)
 */
export function createLimiter({
  parallel,
  waiting,
}: Record<'parallel' | 'waiting', number>): Limiter {
  const queue: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running >= parallel) {
      if (queue.length >= waiting) throw unavailable('too many archives are being checked')
      await new Promise<void>((resolve) => queue.push(resolve))
    } else {
      running += 1
    }
    try {
      return await work()
    } finally {
      // Whoever waits next takes over this place.
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }
}
