import { vi } from 'vitest'

/*
 * Set-up of every test file. `vi.waitFor` and `vi.waitUntil` give up after one second by default, which a shared machine
 * may pause for; unlike `expect.poll` they have no setting. A test whose condition becomes true is not slower.
 */

const patience = { timeout: 20_000, interval: 20 } as const
const { waitFor, waitUntil } = vi

const patient = (options: number | { timeout?: number; interval?: number } | undefined) =>
  typeof options === 'number' ? { ...patience, timeout: options } : { ...patience, ...options }

vi.waitFor = (callback, options) => waitFor(callback, patient(options))
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options))
