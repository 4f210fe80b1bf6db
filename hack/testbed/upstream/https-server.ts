import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Authority, createAuthority } from '../control-plane/certificates.ts'

/** A certificate authority for test upstreams, in its own folder. */
export interface UpstreamAuthority {
  readonly authority: Pick<Authority, 'server'>
  /** The addresses of servers, by their name. Default: a free port of 127.0.0.1, as localhost. */
  readonly placeOf?: (name: string) => Place
  /** PEM, and the same as a file. */
  readonly ca: string
  readonly caFile: string
  remove(): void
}

/** The address and the name of a server. */
export interface Place {
  readonly address: string
  readonly hostname: string
  readonly port: number
}

const anywhere: Place = { address: '127.0.0.1', hostname: 'localhost', port: 0 }

export function createUpstreamAuthority(): UpstreamAuthority {
  const dir = mkdtempSync(join(tmpdir(), 'depot-upstream-'))
  const authority = createAuthority(dir)
  return {
    authority,
    ca: authority.cert,
    caFile: authority.certFile,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** A request as a test server received it. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
}

export interface HttpsServer {
  readonly port: number
  /** `localhost:PORT`. */
  readonly host: string
  /** `https://localhost:PORT`. */
  readonly origin: string
  /** The requests so far. */
  readonly seen: SeenRequest[]
  close(): Promise<void>
}

/** A server under an authority of its own, which goes with it. */
export interface LoneServer extends HttpsServer {
  readonly authority: UpstreamAuthority
}

export async function serveHttpsAlone(
  name: string,
  listener: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown,
): Promise<LoneServer> {
  const authority = createUpstreamAuthority()
  const server = await serveHttps(authority, name, listener)
  const close = async () => {
    await server.close()
    authority.remove()
  }
  return { ...server, authority, close }
}

/** The same for an app that answers requests of the web's own kind. @param url of the request, with the name as its host */
export const serveAppAlone = (
  name: string,
  answer: (url: string, authorization: string) => Response | Promise<Response>,
): Promise<LoneServer> =>
  serveHttpsAlone(name, async ({ url = '', headers }, outgoing) => {
    const found = await answer(`https://${name}${url}`, headers.authorization ?? '')
    outgoing.writeHead(found.status, Object.fromEntries(found.headers))
    outgoing.end(Buffer.from(await found.arrayBuffer()))
  })

/** Serves TLS. @param names further names that its certificate is good for */
export async function serveHttps(
  { authority, placeOf = () => anywhere }: UpstreamAuthority,
  name: string,
  listener: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown,
  names: readonly string[] = [],
): Promise<HttpsServer> {
  const { cert, key } = authority.server(name, names)
  const seen: SeenRequest[] = []
  const server = createServer({ cert, key }, (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    seen.push({ method, url, headers })
    // An error of a test server fails the request, not the process.
    Promise.try<unknown, Parameters<typeof listener>>(listener, incoming, outgoing).catch(
      (error: unknown) => {
        outgoing.destroy(error instanceof Error ? error : undefined)
      },
    )
  })
  const { address, hostname, port: wanted } = placeOf(name)
  server.listen(wanted, address)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    host: `${hostname}:${port}`,
    origin: `https://${hostname}:${port}`,
    seen,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
