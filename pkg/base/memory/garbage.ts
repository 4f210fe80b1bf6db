import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: NodeJS.GCFunction | undefined

/**
 * What collects garbage. V8 has it for programs that ask for it, in contexts that are made afterwards.
 *
 * @see https://nodejs.org/api/cli.html#--expose-gc
 */
export function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as NodeJS.GCFunction
}

/**
 * Collects all garbage, moves what is left together, and gives the memory between back to the system. Takes about two
 * seconds for each GB of heap, in which nothing else runs.
 */
export function giveMemoryBack(): void {
  collect ??= collector()
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
