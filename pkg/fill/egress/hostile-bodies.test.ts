import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type LoneServer, serveHttpsAlone } from '../../../hack/testbed/upstream/https-server.ts'
import { localEgress } from './egress.fixture.ts'
import type { Egress } from './egress.ts'

let server: LoneServer
let egress: Egress
let dir: string
let answer: (outgoing: ServerResponse) => void
let nowMs = 1_800_000_000_000
const { signal } = new AbortController()

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'depot-hostile-'))
  server = await serveHttpsAlone('hostile', (_incoming, outgoing) => answer(outgoing))
})
beforeEach(() => {
  egress = localEgress([server.host, 'localhost:1'], server.authority.ca, { clock: () => nowMs })
})
afterEach(() => egress.close())
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true })
})

let count = 0
const download = (stallMs: number) =>
  egress.download(`${server.origin}/`, {
    signal,
    stallMs,
    maxBytes: 100_000_000,
    into: async () => join(dir, String(++count)),
  })

it('aborts a body that brings only a few bytes at a time without a pause', async () => {
  answer = (outgoing) => {
    const drip = setInterval(() => outgoing.write('x'.repeat(100)), 20)
    outgoing.once('close', () => clearInterval(drip))
  }
  await expect(download(1_500)).rejects.toMatchObject({
    reason: 'Timeout',
    message: 'the upstream sends less than 8 kB a second',
  })
})

it('does not decompress an answer', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  answer = (outgoing) => {
    outgoing.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
    outgoing.end(bomb)
  }
  const { body } = await egress.request(`${server.origin}/`, { signal })
  expect(body.equals(bomb)).toBe(true)
})

it('does not retry an unreachable host for each request', async () => {
  const get = (urgent = false) =>
    egress
      .request('https://localhost:1/', { signal, urgent })
      .catch((error: Error) => error.message)
  for (let round = 0; round < 3; round += 1) expect(await get()).toContain('ECONNREFUSED')
  expect(await get()).toBe(
    'localhost:1 cannot be reached: 3 attempts in a row failed, and Depot tries again soon',
  )
  expect(await get(true)).toContain('ECONNREFUSED')
  nowMs += 20_000
  expect(await get()).toContain('ECONNREFUSED')
})
