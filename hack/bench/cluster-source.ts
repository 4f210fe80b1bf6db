import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { kindNames } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { bookmarkLine, eventLine } from '../testbed/control-plane/fake-answers.ts'
import { benchObjects } from './registry.ts'

/*
 * A process that streams lists from files, as fast as a client takes them: `cluster-source.ts DIRECTORY VERSIONS`, with
 * server.crt and server.key in the directory. Tells its port when the files are written. Nothing ever changes.
 */

const [directory = '', versions = '200000'] = process.argv.slice(2)
const revision = '1000000000'
/** A client takes a watch for dead that brings nothing for minutes, and reads everything again. */
const bookmarkMs = 30_000
const watchSeconds = (asked: URLSearchParams) => Number(asked.get('timeoutSeconds') ?? 600)
const fileOf = (plural: string) => join(directory, `${plural}.lines`)

const files = new Map(
  kindNames.map((kind) => [kind, createWriteStream(fileOf(`${kind.toLowerCase()}s`))]),
)
const size = { versions: Number(versions), findingsPerVersion: 20, distinctFindings: 4_000 }
for (const object of benchObjects(size)) {
  const file = files.get(object.kind)
  if (file?.write(eventLine('ADDED', object)) === false) await once(file, 'drain')
}
for (const file of files.values()) {
  file.end(bookmarkLine(revision, true))
  await once(file, 'close')
}

const pem = async (name: string) =>
  (await createReadStream(join(directory, name)).toArray()).join('')
const server = createServer(
  { cert: await pem('server.crt'), key: await pem('server.key') },
  (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://localhost')
    const stay = (): void => {
      const sent = setInterval(() => response.write(bookmarkLine(revision, false)), bookmarkMs)
      const end = setTimeout(() => response.end(), watchSeconds(searchParams) * 1000)
      response.on('close', () => {
        clearInterval(sent)
        clearTimeout(end)
      })
    }
    if (!searchParams.has('sendInitialEvents')) return stay()
    const lines = createReadStream(fileOf(pathname.split('/').at(-1) ?? ''))
    lines.on('error', () => response.writeHead(404).end())
    lines.pipe(response, { end: false })
    lines.on('end', stay)
  },
)
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
