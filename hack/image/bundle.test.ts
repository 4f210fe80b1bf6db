import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { commands } from '../../cmd/depot/depot.ts'
import { bundleProgram } from './bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-bundle-'))
afterAll(() => rmSync(folder, { recursive: true }))
const { inputs, outputs } = await bundleProgram(folder)

it.each(Object.keys(commands))('the program of the image has the command %s', (command) => {
  const program = join(folder, 'depot.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, command, '--help'], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain(`depot ${command}`)
})

it('the program of the image reads configurations with the files of its own folder alone', () => {
  const main = join(folder, 'main.tf')
  writeFileSync(main, 'variable "cidr" {}\n')
  const program = join(folder, 'depot.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'docs', folder], {
    encoding: 'utf8',
  })
  rmSync(main)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('[cidr](#input\\_cidr)')
})

it('no dynamic import names a CommonJS package, because the bundle has only its default export', () => {
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

it('the bundle leaves out unused parts of zod: import it with `* as z`, not `{ z }`', () => {
  const parts = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  )
  const ofZod = parts.map(([file]) => file).filter((file) => file.includes('node_modules/zod/'))
  expect(ofZod).toContain('node_modules/zod/v4/classic/schemas.js')
  expect(ofZod.filter((file) => file.includes('/locales/'))).toEqual([
    'node_modules/zod/v4/locales/en.js',
  ])
})
