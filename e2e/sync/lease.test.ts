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

interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly stageTimestamp: string
  readonly user: { readonly username: string }
  readonly responseStatus?: { readonly code?: number }
}

beforeAll(async () => {
  const groups = ['system:masters']
  plane = await startControlPlane({ users: { one: groups, two: groups } })
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
})
afterAll(async () => {
  for (const replica of replicas) replica.kill('SIGKILL')
  await plane?.stop()
})

/** A replica and its output. */
class Replica {
  readonly user: string
  readonly #child: ChildProcess
  readonly #lines: string[] = []

  constructor(kubeconfig: string, user: string) {
    const program = join(import.meta.dirname, 'lease-holder.fixture.ts')
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    const child = spawn(process.execPath, [program, kubeconfig, user], { stdio: [...stdio] })
    replicas.push(child)
    if (child.stdout === null) throw new Error('a replica has no output')
    createInterface({ input: child.stdout }).on('line', (line) => this.#lines.push(line))
    this.#child = child
    this.user = user
  }

  /** Number of lines that it has printed. */
  get printed(): number {
    return this.#lines.length
  }

  /** The line that says that it holds the lease, unless a later line says that it lost it. */
  get heldAt(): number | undefined {
    const at = this.#lines.lastIndexOf('held')
    return at > this.#lines.lastIndexOf('lost') ? at : undefined
  }

  /** Whether it has written since it got the lease. */
  get hasWritten(): boolean {
    return this.heldAt !== undefined && this.#lines.includes('wrote', this.heldAt)
  }

  /** Waits for a line after this many. */
  saw(line: string, after = 0): Promise<void> {
    return vi.waitFor(
      () => {
        const lines = this.#lines.slice(after)
        if (!lines.includes(line)) throw new Error(`${this.user}: ${lines.join(', ')}; no ${line}`)
      },
      { timeout: 60_000 },
    )
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

const start = async (user: string) => new Replica(await plane.kubeconfig({ user }), user)

/** The holder of the lease, once it has written. On a busy machine, another one may take it at any time. */
async function holding(one: Replica, two: Replica) {
  return vi.waitFor(
    () => {
      const [holder, other] = one.heldAt === undefined ? [two, one] : [one, two]
      const { heldAt } = holder
      // The last lines may not have been read yet.
      const isOnly = heldAt !== undefined && other.heldAt === undefined
      if (!isOnly || !holder.hasWritten) throw new Error('in between')
      return { holder, other, heldAt }
    },
    { timeout: 60_000 },
  )
}

/** The writers of an object in order, by the audit log; one for each series of writes. */
function writersOf(object: string): string[] {
  const lines = readFileSync(plane.auditLogFile, 'utf8').split('\n').slice(0, -1)
  const users = lines
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ verb, requestURI }) => verb !== 'get' && requestURI.includes(object))
    .filter(({ responseStatus }) => (responseStatus?.code ?? 500) < 300)
    .toSorted((a, b) => Date.parse(a.stageTimestamp) - Date.parse(b.stageTimestamp))
    .map(({ user }) => user.username)
  return users.filter((user, index) => user !== users[index - 1])
}

it('lets one replica write at a time, even if one is paused while it holds the lease', async () => {
  const one = await start('one')
  await one.saw('wrote')
  const two = await start('two')
  await two.saw('refused')

  const { holder, other, heldAt } = await holding(one, two)
  const beforePause = other.printed
  holder.kill('SIGSTOP')
  await other.saw('held', beforePause)
  await other.saw('wrote', beforePause)
  holder.kill('SIGCONT')
  await holder.saw('lost', heldAt)
  await holder.saw('refused', heldAt)

  // A released lease need not expire.
  const next = await holding(one, two)
  const beforeRelease = next.other.printed
  next.holder.kill('SIGTERM')
  await next.other.saw('held', beforeRelease)
  await next.other.saw('wrote', beforeRelease)

  next.other.kill('SIGKILL')
  const three = await start(next.holder.user)
  await three.saw('wrote')

  // Each replica wrote only while it held the Lease. The audit log has a request a moment after its answer.
  await vi.waitFor(() => expect(writersOf('configmaps/written').length).toBeGreaterThan(2))
  const writers = writersOf('configmaps/written')
  const turns = writersOf('leases')
  let turn = -1
  for (const writer of writers) {
    turn = turns.indexOf(writer, turn + 1)
    expect(turn, `${writers.join(', ')} wrote, ${turns.join(', ')} held`).toBeGreaterThanOrEqual(0)
  }
})
