import { vi } from 'vitest'

/** The repository of most scenarios. */
export const url = 'https://git.test/vpc.git'
export const storageConfig = { fileSystem: { directoryPath: 'depot' } }
export const versions = (...all: readonly string[]) => all.map((version) => ({ version }))

/** Waits for the effects of a watch. */
export const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: 30_000, interval: 50 })
