import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { request } from 'undici'
import { writeBarePages } from '../../hack/testbed/explorer/pages.ts'
import { serve } from '../base/serving/serving.ts'
import { createLogger, createMetrics } from '../base/telemetry/telemetry.ts'
import { createExplorer, type ExplorerOptions } from './explorer.ts'

export const sessionPassword = 'a password of more than 32 letters'

/** A request that reached the server behind the explorer. */
interface Reached {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** `name=value` pairs that a browser would keep. */
  readonly cookies: string
}

export interface Running extends AsyncDisposable {
  readonly url: string
  /** The scrape of its metrics. */
  readonly metrics: () => Promise<string>
  /** Every line that it logged. */
  readonly log: readonly string[]
  readonly reached: readonly Reached[]
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answer>
  readonly send: (
    method: string,
    path: string,
    headers?: Record<string, string>,
    body?: string,
  ) => Promise<Answer>
}

type Listener = (request: IncomingMessage, response: ServerResponse, reached: Reached) => void

/** Answers everything with JSON. */
const answersJson: Listener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', etag: '"tag"' })
  response.end('{"items":[]}')
}

/** An explorer on its own port, in front of a server that answers as the test says. */
export async function startExplorer(
  answer: Listener = answersJson,
  options: Partial<ExplorerOptions> = {},
): Promise<Running> {
  const dist = mkdtempSync(join(tmpdir(), 'depot-explorer-'))
  writeBarePages(dist)
  const reached: Reached[] = []
  const behind = await listening((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
      reached.push(one)
      answer(incoming, outgoing, one)
    })
  })
  const log: string[] = []
  const logger = createLogger('debug', { write: (line: string) => log.push(line) })
  const metrics = createMetrics({ version: 'test' })
  const { app, close } = createExplorer({
    serverUrl: behind.url,
    trustProxy: false,
    sessionPasswords: [sessionPassword],
    sessionTtlMs: 8 * 3_600_000,
    devTokenInput: false,
    dist,
    version: '1.2.3',
    log: logger,
    metrics,
    // The answer arrives at once, but a busy machine may take longer than people should wait.
    firstAnswerMs: 20_000,
    ...options,
  })
  const anywhere = { host: '127.0.0.1', port: 0 }
  const front = await serve({
    fetch: app.fetch,
    listen: anywhere,
    adminListen: anywhere,
    log: logger,
    metrics,
    waitingFor: () => [],
  })
  const send: Running['send'] = (method, path, headers = {}, body) =>
    sendTo(front.url, method, path, headers, body)
  return {
    url: front.url,
    metrics: () => metrics.metrics(),
    log,
    reached,
    send,
    get: (path, headers) => send('GET', path, headers),
    async [Symbol.asyncDispose]() {
      await close()
      await front.stop(0)
      behind.stop()
      rmSync(dist, { recursive: true })
    },
  }
}

export async function sendTo(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer> {
  const answer = await request(`${url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  })
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: await answer.body.text(),
    cookies: [answer.headers['set-cookie'] ?? []]
      .flat()
      .filter((line) => !line.includes('Max-Age=0'))
      .map((line) => line.split(';')[0])
      .join('; '),
  }
}

export async function listening(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A server that listens but accepts no connection, because its process is blocked and its queue is full. */
export async function neverAccepting(): Promise<AsyncDisposable & { readonly url: string }> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
    const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`,
    { eval: true },
  )
  const [port] = (await once(worker, 'message')) as [number]
  // The kernel accepts two connections for such a queue. Others wait.
  const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1'))
  for (const socket of waiting) socket.on('error', () => undefined)
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, 'connect')))
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy()
      await worker.terminate()
    },
  }
}
