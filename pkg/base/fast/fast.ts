/**
 * Tricks that make Depot faster or smaller, and that lean on how Node works inside. `DEPOT_PLAIN=1` turns them off;
 * docs/performance.md has a row for each.
 */

export {
  allocatorEnvironment,
  giveMemoryBack,
  keepYoungGeneration,
  limitHeap,
  nodeOptions,
} from './memory.ts'
export { isPlain } from './plain.ts'
export { SendableBody, sendRaw } from './raw-answer.ts'
export { settleShapes } from './shapes.ts'
