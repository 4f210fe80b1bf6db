import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A server of this machine that a scanner must not contact, although a module names it. */
export interface Canary extends AsyncDisposable {
  /** Configuration with a source of each kind there. */
  readonly module: string
  /** Number of connections so far. */
  readonly asked: () => number
}

export async function startCanary(): Promise<Canary> {
  let asked = 0
  const server = createServer((socket) => {
    asked += 1
    socket.destroy()
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  // A program that uses a proxy connects directly to 127.0.0.1, but not to this address.
  const host = `0.0.0.0:${(server.address() as AddressInfo).port}`
  const sources = [
    `git::https://${host}/canary.git`,
    `https://${host}/canary.zip`,
    `http://${host}/canary.tar.gz`,
    `${host}/team/canary/aws`,
  ]
  return {
    module: sources
      .map((source, index) => `module "m${index}" {\n  source = "${source}"\n}\n`)
      .join(''),
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
