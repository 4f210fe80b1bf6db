import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

/** A process of three groups that prints what happens to its parts. */
const program = (second: string) => `
  import { run } from '${import.meta.dirname}/run.ts'
  setInterval(() => undefined, 1000)
  const print = (line) => process.stdout.write(line + '\\n')
  const part = (name, start) => ({
    name,
    start: start ?? (() => print('start ' + name)),
    stop: (graceMs) => print('stop ' + name + ' ' + graceMs),
  })
  const never = (signal) => new Promise((_, reject) => {
    print('waits')
    signal.addEventListener('abort', () => print('aborted'))
  })
  const log = { info: (_, message) => print(message ?? _), error: (_, message) => print(message) }
  await run({ groups: [[part('a'), part('b')], [part('c', ${second})], [part('d')]], log, graceMs: 50 })
    .catch((error) => print('failed: ' + error.message))
  process.exit()
`

async function outputOf(second: string, stopAfter: string): Promise<string[]> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program(second)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.on('data', (chunk) => {
    if (String(chunk).includes(stopAfter)) child.kill('SIGTERM')
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return output.trim().split('\n')
}

it('starts groups in order and stops them in reverse order', async () => {
  expect(await outputOf('undefined', 'start d')).toEqual([
    'start a',
    'start b',
    'start c',
    'start d',
    'stopping',
    'stop d 50',
    'stop c 50',
    'stop a 50',
    'stop b 50',
    'stopped',
  ])
})

it('stops the started parts at once when another part cannot start', async () => {
  const fails = `() => { throw new Error('no port') }`
  expect(await outputOf(fails, 'nothing')).toEqual([
    'start a',
    'start b',
    'stop a 0',
    'stop b 0',
    'failed: no port',
  ])
})

it('does not wait for a part that is still starting when a signal comes', async () => {
  expect(await outputOf('never', 'waits')).toEqual([
    'start a',
    'start b',
    'waits',
    'stopping',
    'aborted',
    'stop a 50',
    'stop b 50',
    'stopped',
  ])
})
