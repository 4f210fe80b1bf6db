/**
 * Bounds on memory: maps that forget, a heap sized for a server whose memory is its catalog, garbage that is collected in
 * time, and what texts, bytes and the shapes of objects take.
 */

export { Bounded } from './bounded.ts'
export { characterBytes, keptBytes } from './kept-bytes.ts'
export { keptText } from './kept-text.ts'
