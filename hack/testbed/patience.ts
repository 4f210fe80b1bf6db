import { vi } from 'vitest'

/*
 * Set-up of every test file. `vi.waitFor` and `vi.waitUntil` give up after one second by default, which a shared machine
 * may stand still for; unlike `expect.poll` they have no setting. A test that waits for what comes ends as soon as before.
 */

const patience = { timeout: 20_000, interval: 20 } as const
const { waitFor, waitUntil } = vi

const patient = (options: number | { timeout?: number; interval?: number } | undefined) =>
  typeof options === 'number' ? { ...patience, timeout: options } : { ...patience, ...options }

vi.waitFor = (callback, options) => waitFor(callback, patient(options))
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options))
