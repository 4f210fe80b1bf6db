import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { ViteUserConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { lessGarbage } from './hack/testbed/less-garbage.ts'

/* Common parts of the configurations of all suites. */

/** At least two: by default vitest keeps one processor for itself, and on two processors files would run one by one. */
export const workers = Math.max(2, availableParallelism() - 1)

/**
 * Modules are compiled once, those of the workers and of the programs that tests start. A start of a program then takes 0.4 s
 * of processor time, not 1.0 s.
 */
export const env = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '.depot/compile-cache'),
  ...lessGarbage,
}
Object.assign(process.env, env)

type Reporters = NonNullable<NonNullable<ViteUserConfig['test']>['reporters']>

/** In CI each suite also writes its results to a file. hack/results.ts adds them up. */
export const reportersOf = (suite: string): Reporters =>
  ['', '0', 'false'].includes(process.env['CI'] ?? '')
    ? ['default']
    : ['default', ['json', { outputFile: `.depot/results/${suite}.json` }]]

/**
 * Begins with the files that take longest: at the end they would keep one worker busy while the others have nothing left to do.
 * In a fresh checkout, vitest begins with those that have the most text.
 */
export const longestFirst = (files: readonly string[]) => ({
  sequencer: class extends BaseSequencer {
    override async sort(all: TestSpecification[]): Promise<TestSpecification[]> {
      const isLong = ({ moduleId }: TestSpecification) =>
        files.some((file) => moduleId.endsWith(file))
      // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer
      const sorted = await super.sort(all)
      return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
    }
  },
})

/** Tests beside the code that cannot run without a tool of hack/tools. */
export const withTools = [
  'hack/chart/**/*.test.ts',
  'hack/release.test.ts',
  'pkg/archives/docs/reference.test.ts',
]
