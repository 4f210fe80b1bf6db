import type { Runnable } from './runnable.ts'

/** A part that is opened when the process starts, and closed when it stops. */
export interface Opened<T> extends Runnable {
  /** @throws Error if it is not open yet */
  readonly part: T
}

/** @param close is called with the result of `open` */
export function opened<T>(
  name: string,
  open: () => T | Promise<T>,
  close: (part: T, graceMs: number) => void | Promise<void>,
): Opened<T> {
  let current: { readonly part: T } | undefined
  return {
    name,
    get part() {
      if (current === undefined) throw new Error(`${name} is not open`)
      return current.part
    },
    async start() {
      current = { part: await open() }
    },
    stop: (graceMs) => current && close(current.part, graceMs),
  }
}
