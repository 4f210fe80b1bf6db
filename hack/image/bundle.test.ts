import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bundleCommands } from './bundle.ts'

it('nothing of ours imports a CommonJS package on first use, for the bundle has only its default', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { inputs } = await bundleCommands(folder)
  const onFirstUse = Object.entries(inputs)
    .filter(([file]) => !file.includes('node_modules/'))
    .flatMap(([file, { imports }]) =>
      imports
        .filter(({ kind, external }) => kind === 'dynamic-import' && external !== true)
        .map(({ path }) => ({ file, path })),
    )
  expect(onFirstUse.length).toBeGreaterThan(5)
  expect(onFirstUse.filter(({ path }) => inputs[path]?.format === 'cjs')).toEqual([])
})
