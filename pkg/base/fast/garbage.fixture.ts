import { collector } from './memory.ts'

const collect = collector()

/** Collects all garbage, so that `process.memoryUsage` shows live memory only. */
export const collectGarbage = (): void => collect()
