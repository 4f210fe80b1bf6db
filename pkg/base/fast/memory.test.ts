import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allocatorEnvironment, nodeOptions } from './fast.ts'

it('the image sets these options', () => {
  const allocator = Object.entries(allocatorEnvironment).map(([name, value]) => `${name}=${value}`)
  const environment = `${allocator.join(' ')} NODE_OPTIONS=${nodeOptions}\n`
  expect(readFileSync('Dockerfile', 'utf8')).toContain(environment)
})

it('Node accepts the options in NODE_OPTIONS', () => {
  const { status } = spawnSync(process.execPath, ['-e', ''], {
    env: { NODE_OPTIONS: nodeOptions },
  })
  expect(status).toBe(0)
})

it('returns the memory that reading a list took', () => {
  const program = `
    import { giveMemoryBack } from ${JSON.stringify(join(import.meta.dirname, 'fast.ts'))}
    const read = Array.from({ length: 1_000_000 }, (_, index) => ({ index, text: 'row ' + index }))
    const kept = read.splice(0).filter(({ index }) => index % 10 === 0)
    const before = process.memoryUsage().heapTotal
    giveMemoryBack()
    console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal, kept: kept.length }))`
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const { before, after, kept } = JSON.parse(stdout) as Record<'before' | 'after' | 'kept', number>
  expect(kept).toBe(100_000)
  expect(after).toBeLessThan(before / 3)
})
