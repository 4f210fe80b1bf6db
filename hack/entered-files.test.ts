import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

const entered = (): string[] =>
  execFileSync(process.execPath, ['hack/entered-files.ts'], {
    encoding: 'utf8',
    // V8 counts less precisely what was compiled before.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  })
    .trim()
    .split('\n')

/** More of them, and a request cannot be followed any more. */
const most = 15

it('a list of versions with a known token enters few files', () => {
  const files = entered()
  expect(files).toContain('pkg/registry/protocol/modules.ts')
  expect(files.length).toBeLessThanOrEqual(most)
})
