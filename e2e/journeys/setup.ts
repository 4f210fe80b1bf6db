import type { TestProject } from 'vitest/node'
import { findForTests, inCi, readyToolPath, toolPath } from '../../hack/testbed/tools.ts'

/** On a laptop, nothing is built: the journeys run with the installed CLIs. */
export default function setup({ provide }: TestProject): void {
  const find = inCi ? toolPath : readyToolPath
  for (const name of ['terraform', 'tofu'] as const) {
    provide(
      name,
      findForTests(name, () => find(name)),
    )
  }
}
