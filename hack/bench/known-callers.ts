import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { TestIssuer } from '../../pkg/auth/issuer.fixture.ts'
import { nodeOptions } from '../../pkg/memory/memory.ts'
import type { Target } from './processes.ts'

/** A server in OIDC mode and callers whom it will know. */
export interface KnownCallers extends Target {
  /** Values of the Authorization header, each of another caller. */
  readonly authorizations: readonly string[]
}

/** Starts an issuer and a server of a small registry. Each caller is in a team, and each team has a GroupBinding. */
export async function startKnownCallers(tokens: number, bindings: number): Promise<KnownCallers> {
  const issuer = await TestIssuer.start()
  const signed = await Promise.all(
    Array.from({ length: tokens }, (_, index) => {
      const team = Math.floor((index * bindings) / tokens)
      const groups = ['everybody', 'developers', `team-${team}`]
      return issuer.sign({ sub: `user-${index}`, email: `user-${index}@example.com`, groups })
    }),
  )
  const child = fork(
    join(import.meta.dirname, 'auth-server.ts'),
    [`--issuer=${issuer.url}`, `--bindings=${bindings}`],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [nodeOptions] },
  )
  const died = once(child, 'exit').then(() => Promise.reject(new Error('the server has ended')))
  const [port] = (await Promise.race([once(child, 'message'), died])) as [number]
  died.catch(() => {})
  return {
    port,
    pid: child.pid ?? 0,
    authorizations: signed.map((token) => `Bearer ${token}`),
    stop() {
      child.kill()
      issuer.stop()
    },
  }
}
