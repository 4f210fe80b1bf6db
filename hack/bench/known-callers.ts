import { TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'
import { type Cost, compareCost } from './cpu-rounds.ts'
import { record, startAuthServer, type startBare, type Target } from './processes.ts'

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
  const server = await startAuthServer({ issuer: issuer.url, bindings })
  return {
    ...server,
    authorizations: signed.map((token) => `Bearer ${token}`),
    stop() {
      server.stop()
      issuer.stop()
    },
  }
}

/** Name of the case in tables. */
export const knownCallersCase = 'module versions, 1,000 known tokens'

/** Measures a list of ten versions for 1,000 known tokens, sent in turn; each caller has a GroupBinding of its own. */
export async function knownCallersCost(
  bare: Awaited<ReturnType<typeof startBare>>,
  rounds: number,
): Promise<Cost> {
  const callers = await startKnownCallers(1000, 1000)
  try {
    const path = '/depot/modules/v1/bench/small/aws/versions'
    const { authorizations } = callers
    for (const authorization of authorizations) await record(callers.port, path, authorization)
    await bare.teach(await record(callers.port, path, authorizations[0]))
    const known = { path, connections: 32, authorizations }
    return await compareCost({ bare, own: callers }, known, rounds)
  } finally {
    callers.stop()
  }
}
