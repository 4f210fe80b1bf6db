import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allocatorEnvironment, nodeOptions } from './memory.ts'

it('the image starts Node with the options of its programs', () => {
  const allocator = Object.entries(allocatorEnvironment).map(([name, value]) => `${name}=${value}`)
  const environment = `${allocator.join(' ')} NODE_OPTIONS=${nodeOptions}\n`
  expect(readFileSync('Dockerfile', 'utf8')).toContain(environment)
})

it('Node knows the options', () => {
  const { status } = spawnSync(process.execPath, ['-e', ''], {
    env: { NODE_OPTIONS: nodeOptions },
  })
  expect(status).toBe(0)
})

it('a running Node takes the options that are set later', () => {
  const program = `
    import { expectRequests, keepRequestsCheap } from ${JSON.stringify(join(import.meta.dirname, 'memory.ts'))}
    keepRequestsCheap()
    expectRequests()`
  const args = ['--input-type=module', '--eval', program]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

it('what reading a list has left behind is given back', () => {
  const program = `
    import { expectRequests, keepRequestsCheap } from ${JSON.stringify(join(import.meta.dirname, 'memory.ts'))}
    keepRequestsCheap()
    const read = Array.from({ length: 1_000_000 }, (_, index) => ({ index, text: 'row ' + index }))
    const kept = read.splice(0).filter(({ index }) => index % 10 === 0)
    const before = process.memoryUsage().heapTotal
    expectRequests()
    console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal, kept: kept.length }))`
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const { before, after, kept } = JSON.parse(stdout) as Record<'before' | 'after' | 'kept', number>
  expect(kept).toBe(100_000)
  expect(after).toBeLessThan(before / 3)
})
