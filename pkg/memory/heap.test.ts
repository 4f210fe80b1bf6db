import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nodeOptions } from './memory.ts'

it('the image starts Node with the options of its programs', () => {
  expect(readFileSync('Dockerfile', 'utf8')).toContain(`NODE_OPTIONS=${nodeOptions}\n`)
})

it('Node knows the options', () => {
  const { status } = spawnSync(process.execPath, ['-e', ''], {
    env: { NODE_OPTIONS: nodeOptions },
  })
  expect(status).toBe(0)
})
