import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allocatorEnvironment, nodeOptions } from './fast.ts'

it('the image sets these options', () => {
  const allocator = Object.entries(allocatorEnvironment).map(([name, value]) => `${name}=${value}`)
  const dockerfile = readFileSync('Dockerfile', 'utf8')
  expect(dockerfile).toContain(`NODE_ENV=production ${allocator.join(' ')}\n`)
  const options = nodeOptions.map((option) => `"${option}"`)
  expect(dockerfile).toContain(`"/nodejs/bin/node", ${options.join(', ')}, "/app/depot.mjs"`)
})

it('the young generation grows during a load only', () => {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { giveMemoryBack, keepYoungGeneration } from ${JSON.stringify(join(import.meta.dirname, 'fast.ts'))}
    const size = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20
    const kept = []
    const sizeAfter = (alive) => {
      for (let index = 0; index < 1_000_000; index++) kept[index % alive] = { index, text: 'row ' + index }
      return size()
    }
    const sizes = {}
    if (process.argv[1] === 'load') {
      sizes.loading = sizeAfter(1_000_000)
      giveMemoryBack()
    } else keepYoungGeneration()
    sizes.serving = sizeAfter(10_000)
    console.log(JSON.stringify(sizes))`
  const sizesIn = (...args: readonly string[]): unknown => {
    const given = [...nodeOptions, '--input-type=module', '--eval', program, ...args]
    return JSON.parse(spawnSync(process.execPath, given, { encoding: 'utf8' }).stdout)
  }
  expect(sizesIn()).toEqual({ serving: 8 })
  expect(sizesIn('load')).toEqual({ loading: 32, serving: 8 })
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
