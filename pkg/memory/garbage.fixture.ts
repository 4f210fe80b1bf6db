import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects all garbage: what `process.memoryUsage` tells after that is what is held. */
export const collectGarbage = runInNewContext('gc') as () => void
