import { collector } from './garbage.ts'

const collect = collector()

/** Collects all garbage: what `process.memoryUsage` tells after that is what is held. */
export const collectGarbage = (): void => collect()
