import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { openPolicyFile, policyIn } from './policy-file.ts'

it.each([
  ['', 'p.yaml:1: is empty: write {} if everything may come in'],
  ['minimumAge: 7d\nminimumAge: 1d\n', 'p.yaml:2: Map keys must be unique'],
  ['# a week\nminimumAge: week\n', 'p.yaml:2: minimumAge '],
  ['deny:\n- address: git.test/vpc\n  reason: x\n  version: 1.0.0\n', 'p.yaml:4: deny[0].version '],
  ['deny:\n- address: git.test/vpc\n', 'p.yaml:2: deny[0].reason '],
  ['allow:\n- address: a.test/b\n  reason: x\n  versions: "=> 1"\n', 'p.yaml:2: '],
  ['{}\n---\n', 'p.yaml:'],
  ['minimumAge: 7d\nrule:\n  reason: x\n  expression: upstream.a == 1\n', 'p.yaml:3: there is no'],
  ['minimumage: 7d\n', 'p.yaml:1: minimumage '],
  ['- deny\n', 'p.yaml:1: '],
])('says where %j is wrong', (text, expected) => {
  expect(() => policyIn(text, 'p.yaml')).toThrow(expected)
})

it('reads what spec.policy of a Depot can have', () => {
  expect(policyIn('{}', 'p.yaml')).toEqual({})
  const deny = [{ address: 'git.test/vpc', reason: 'stolen' }]
  expect(policyIn(JSON.stringify({ minimumAge: '7d', deny }), 'p.yaml')).toEqual({
    minimumAge: '7d',
    deny,
  })
})

async function opened(text: string) {
  const dir = await mkdtemp(join(tmpdir(), 'depot-policy-'))
  const path = join(dir, 'policy.yaml')
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  const metrics = createMetrics({ version: 'test' })
  // The kubelet, too, renames what it has written.
  const write = async (content: string) => {
    await writeFile(`${path}.new`, content)
    await rename(`${path}.new`, path)
  }
  await write(text)
  onTestFinished(() => rm(dir, { recursive: true }))
  const open = async () => {
    const file = await openPolicyFile({ path, log, metrics, lookMs: 5 })
    if (file === undefined) throw new Error('no file')
    return file
  }
  const isValid = async () =>
    /^depot_upstream_policy_file_valid (\d)$/m.exec(await metrics.metrics())?.[1]
  return { path, write, open, lines, isValid }
}

it('applies a change without a restart, and keeps the last valid policy if the file is invalid', async () => {
  const { path, write, open, lines, isValid } = await opened('minimumAge: 7d\n')
  const file = await open()
  onTestFinished(() => file.close())
  expect(file.current).toEqual({ minimumAge: '7d' })
  let changes = 0
  file.onChange(() => (changes += 1))
  await write('minimumAge: 14d\n')
  await expect.poll(() => file.current).toEqual({ minimumAge: '14d' })
  expect(changes).toBe(1)
  await write('minimumAge: 14d\ndeny: all\n')
  await expect.poll(isValid).toBe('0')
  expect(file.current).toEqual({ minimumAge: '14d' })
  expect(changes).toBe(1)
  expect(lines.filter((line) => line.includes('cannot be read')).join('')).toContain(
    `${path}:2: deny `,
  )
  await rm(path)
  await expect.poll(() => lines.some((line) => line.includes('does not exist'))).toBe(true)
  expect(file.current).toEqual({ minimumAge: '14d' })
  await write('{}')
  await expect.poll(isValid).toBe('1')
  expect(file.current).toEqual({})
})

it('ignores a file that is half written', async () => {
  const whole = 'minimumAge: 7d\ndeny:\n- address: git.test/vpc\n  reason: stolen\n'
  const { path, open } = await opened(whole)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const file = await open()
  onTestFinished(() => file.close())
  const look = async () => {
    await vi.advanceTimersByTimeAsync(5)
    // Files are read in real time.
    for (let count = 0; count < 500; count += 1) await setImmediate()
  }
  const later = whole.replace('7d', '14d')
  const seen: unknown[] = []
  // Each part is valid, and denies less.
  for (const part of ['minimumAge: 14d', 'minimumAge: 14d\n', later]) {
    await writeFile(path, part)
    await look()
    seen.push(file.current)
  }
  expect(seen).toEqual(Array.from({ length: 3 }, () => policyIn(whole, path)))
  await vi.waitFor(() => expect(file.current).toEqual(policyIn(later, path)))
})

it('does not start with a file that cannot be read', async () => {
  const { path, open } = await opened('minimumAge: week\n')
  await expect(open()).rejects.toThrow(`--upstream-policy: ${path}:1: minimumAge `)
  await rm(path)
  await expect(open()).rejects.toThrow('--upstream-policy: ')
})
