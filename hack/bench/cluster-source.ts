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
  file.end(bookmarkLine('1000000000', true))
  await once(file, 'close')
}

const pem = async (name: string) =>
  (await createReadStream(join(directory, name)).toArray()).join('')
const server = createServer(
  { cert: await pem('server.crt'), key: await pem('server.key') },
  (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'https://localhost')
    const lines = createReadStream(fileOf(pathname.split('/').at(-1) ?? ''))
    lines.on('error', () => response.writeHead(404).end())
    // Left open at the end, as a watch is.
    lines.pipe(response, { end: false })
  },
)
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
