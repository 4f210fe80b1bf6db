import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ExplorerProcess, startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import type { Registry } from '../../hack/testbed/registry/registry.ts'
import { startAs } from '../../hack/testbed/server/server.ts'
import { TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'

interface PersonOptions {
  readonly serverFlags?: readonly string[]
  /** Requests that get no answer. Default: none. */
  readonly isBroken?: (url: string) => boolean
}

/**
 * A server of a registry, and an explorer in front of it. Each visitor is a person with these groups, without a sign-in.
 *
 * @param groups of the person, read for each request
 */
export async function startExplorerAs(
  registry: Registry,
  stops: AsyncDisposableStack,
  groups: () => readonly string[],
  { serverFlags = [], isBroken = () => false }: PersonOptions = {},
): Promise<ExplorerProcess> {
  const issuer = await TestIssuer.start()
  stops.defer(() => issuer.stop())
  const server = await startAs(
    registry,
    '--manifests',
    registry.manifests,
    '--oidc-issuer-url',
    issuer.url,
    '--oidc-client-id',
    'depot',
    ...serverFlags,
  )
  stops.defer(async () => void (await server.stop()))
  const answer = async (url: string, outgoing: ServerResponse): Promise<void> => {
    const authorization = `Bearer ${await issuer.sign({ groups: groups() })}`
    const response = await fetch(server.url + url, { headers: { authorization } })
    outgoing.writeHead(response.status, { 'content-type': 'application/json' })
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  }
  const door = createServer(({ url = '' }, outgoing) => {
    if (isBroken(url)) outgoing.destroy()
    // The explorer reports a broken connection.
    else answer(url, outgoing).catch(() => outgoing.destroy())
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  stops.defer(() => {
    door.closeAllConnections()
    door.close()
  })
  const { port } = door.address() as AddressInfo
  const explorer = await startExplorer({ serverUrl: `http://127.0.0.1:${port}` })
  stops.defer(async () => void (await explorer.stop()))
  return explorer
}
