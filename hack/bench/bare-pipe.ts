import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/* The best that Node does without native code: a file piped into the connection, in chunks that were measured best. */

const [root = '', hashing] = process.argv.slice(2)
const smallFileBytes = 1_000_000

const server = createServer((request, response) => {
  const path = join(root, request.url ?? '')
  const { size } = statSync(path)
  response.writeHead(200, { 'Content-Length': size })
  const highWaterMark = size > smallFileBytes ? 256 * 1024 : 64 * 1024
  const file = createReadStream(path, { highWaterMark })
  if (hashing === 'true') {
    const hash = createHash('sha256')
    file.on('data', (chunk) => hash.update(chunk)).on('end', () => hash.digest())
  }
  file.pipe(response)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
