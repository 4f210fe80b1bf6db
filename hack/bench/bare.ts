import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { uniqueParameter } from './wrk.ts'

/*
 * Measures the best that Node can do: a server of node:http, a process of its own, that gives the answers it was given, byte for
 * byte, and does nothing else. It is kept at its best: left alone, one process answers for a third more than another.
 */

export interface Answer {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Base64. */
  readonly body?: string
  /** Streamed from disk instead. */
  readonly file?: string
}

const answers = new Map<string, Answer & { readonly bytes: Buffer }>()

const server = createServer((request, response) => {
  const { url = '' } = request
  const answer =
    answers.get(url) ?? answers.get(url.slice(0, url.lastIndexOf(`${uniqueParameter}=`) - 1))
  if (answer === undefined) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, answer.headers)
  if (answer.file === undefined) response.end(answer.bytes)
  else createReadStream(answer.file).pipe(response)
})

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', (answer: Answer) => {
  answers.set(answer.path, { ...answer, bytes: Buffer.from(answer.body ?? '', 'base64') })
  process.send?.('ok')
})
process.on('disconnect', () => process.exit())
