import { readFile } from 'node:fs/promises'
import { messageOf, RegistryError } from '../../base/errors/errors.ts'
import type { Connection } from './credentials.ts'

/** The service account of the pod that this process runs in. Both files are rotated, so they are read each time. */
export function connectFromPod({
  host,
  port,
  serviceAccount,
}: {
  readonly host: string
  readonly port: string
  /** Folder with the files `token` and `ca.crt`. */
  readonly serviceAccount: string
}): Connection {
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  return {
    async credentials() {
      try {
        const token = await readFile(`${serviceAccount}/token`, 'utf8')
        const ca = await readFile(`${serviceAccount}/ca.crt`)
        return { server, headers: { Authorization: `Bearer ${token.trim()}` }, tls: { ca } }
      } catch (cause) {
        throw new RegistryError(
          'Unauthenticated',
          `cannot read the service account of the pod: ${messageOf(cause)}`,
          { cause },
        )
      }
    },
    reload() {},
    recheck() {},
  }
}
