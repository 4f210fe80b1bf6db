import { TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'
import { startAuthServer, type Target } from './processes.ts'

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
