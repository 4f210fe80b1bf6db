import { collector } from './memory.ts'

const collect = collector()

/** Collects all garbage, so that `process.memoryUsage` tells what is held. */
export const collectGarbage = (): void => collect()
