import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'

let plane: ControlPlane
const replicas: ChildProcess[] = []

beforeAll(async () => {
  const groups = ['system:masters']
  plane = await startControlPlane({ users: { one: groups, two: groups } })
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
})
afterAll(async () => {
  for (const replica of replicas) replica.kill('SIGKILL')
  await plane?.stop()
})

async function start(user: string) {
  const program = join(import.meta.dirname, 'lease-holder.fixture.ts')
  const child = spawn(process.execPath, [program, await plane.kubeconfig({ user }), user], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  replicas.push(child)
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  /** Waits for a line after so many. */
  const saw = (line: string, after = 0) =>
    vi.waitFor(() => expect(lines.slice(after)).toContain(line), { timeout: 60_000 })
  return { child, lines, saw }
}

/** Who wrote to the ConfigMap, in order, by the API server's own record; one for each run of writes. */
function writers(): string[] {
  const lines = readFileSync(plane.auditLogFile, 'utf8').trim().split('\n')
  const users = lines
    .map(
      (line) =>
        JSON.parse(line) as { verb: string; requestURI: string; user: { username: string } },
    )
    .filter(({ verb, requestURI }) => verb === 'patch' && requestURI.includes('configmaps/written'))
    .map(({ user }) => user.username)
  return users.filter((user, index) => user !== users[index - 1])
}

it('lets one replica write at a time, also when one was paused while it held the lease', async () => {
  const one = await start('one')
  await one.saw('wrote')
  const two = await start('two')
  await two.saw('refused')
  one.child.kill('SIGSTOP')
  const beforePause = one.lines.length
  await two.saw('wrote')
  expect(writers()).toEqual(['one', 'two'])

  one.child.kill('SIGCONT')
  await one.saw('lost', beforePause)
  await one.saw('refused', beforePause)
  expect(two.lines).not.toContain('lost')

  // Given up in order, the lease need not run out.
  const beforeRelease = one.lines.length
  two.child.kill('SIGTERM')
  await one.saw('held', beforeRelease)
  await one.saw('wrote', beforeRelease)
  expect(writers()).toEqual(['one', 'two', 'one'])

  one.child.kill('SIGKILL')
  const three = await start('two')
  await three.saw('wrote')
  expect(writers()).toEqual(['one', 'two', 'one', 'two'])
})
