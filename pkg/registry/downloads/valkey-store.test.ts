import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Redis } from 'iovalkey'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Clock } from '../../base/pacing/pacing.ts'
import { batchOf, hourMs } from './event.ts'
import { describeStore } from './store-conformance.fixture.ts'
import { noValkey, TestValkey } from './valkey.fixture.ts'
import { ValkeyStore } from './valkey-store.ts'

let server: TestValkey
let direct: Redis

beforeAll(async () => {
  if (noValkey) return
  server = await TestValkey.start('--requirepass', 'secret')
  direct = new Redis({ port: server.port, host: server.host, password: 'secret' })
})
afterAll(async () => {
  direct?.disconnect()
  await server?.[Symbol.asyncDispose]()
})

async function open(clock: Clock = Date.now): Promise<ValkeyStore> {
  const store = new ValkeyStore({
    address: { host: server.host, port: server.port },
    password: 'secret',
    clock,
  })
  onTestFinished(() => store.close())
  await vi.waitFor(() => store.applied('x'))
  return store
}

const event = { kind: 'Module', namespace: 'a', name: 'vpc', version: '1.0.0' } as const
const batch = (at: number) => batchOf('one', 0, [{ sequence: 1, at, event }], at)

describe.skipIf(noValkey)('valkey', () => {
  describeStore(async (clock) => {
    await direct.flushall()
    return { store: await open(clock), again: () => open(clock) }
  })

  it('expires everything except the counts', async () => {
    await direct.flushall()
    const now = Date.now()
    const store = await open(() => now)
    await store.apply(batch(now))
    const keys = (await direct.keys('*')).toSorted()
    const expiries = await Promise.all(keys.map(async (key) => [key, await direct.ttl(key)]))
    const day = new Date(now).toISOString().slice(0, 10)
    expect(expiries).toEqual([
      ['{depot}:v1:changed', -1],
      ['{depot}:v1:downloads', -1],
      [`{depot}:v1:hours:${day}`, expect.closeTo((91 * 24 * hourMs) / 1000, -6)],
      ['{depot}:v1:journal:one', expect.closeTo((90 * 24 * hourMs) / 1000, -3)],
      ['{depot}:v1:revision', -1],
    ])
  })

  it('ignores what others wrote next to its counts', async () => {
    await direct.flushall()
    const store = await open()
    await store.apply(batch(Date.now()))
    for (const key of ['no JSON', '{}', '["Module","a"]', '["Module","a","vpc",1]']) {
      await direct.hset('{depot}:v1:downloads', key, '7 7')
      await direct.zadd('{depot}:v1:changed', 1, key)
    }
    const { counts } = await store.changes(0, 100)
    expect(counts).toEqual([{ ...event, count: 1, lastAt: expect.any(Number) as number }])
  })

  it('counts nothing if its memory is full, and reports that', async () => {
    await direct.flushall()
    const store = await open()
    await direct.config('SET', 'maxmemory', '1')
    await expect(store.apply(batch(Date.now()))).rejects.toThrow(/OOM/)
    await direct.config('SET', 'maxmemory', '0')
    expect(await store.apply(batch(Date.now()))).toBe(1)
  })

  it('reports a wrong password', async () => {
    const store = new ValkeyStore({
      address: { host: server.host, port: server.port },
      password: 'wrong',
      clock: Date.now,
    })
    onTestFinished(() => store.close())
    await vi.waitFor(() => expect(store.applied('x')).rejects.toThrow(/WRONGPASS/))
  })

  it('is reached through TLS with a valid certificate', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'depot-valkey-tls-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    })
    writeFileSync(join(dir, 'key.pem'), certificate.private)
    writeFileSync(join(dir, 'cert.pem'), certificate.cert)
    const files = ['--tls-key-file', join(dir, 'key.pem'), '--tls-cert-file', join(dir, 'cert.pem')]
    const flags = ['--tls-port', '{port}', '--port', '0', '--tls-auth-clients', 'no']
    await using secured = await TestValkey.start(...flags, ...files)
    const reach = (host: string) => {
      const address = { host, port: secured.port, tls: true }
      const store = new ValkeyStore({ address, clock: Date.now })
      onTestFinished(() => store.close())
      return store
    }

    const stranger = reach('localhost')
    await vi.waitFor(() => expect(stranger.applied('x')).rejects.toThrow(/self-signed certificate/))
    setDefaultCACertificates([...getCACertificates(), certificate.cert])
    const known = reach('localhost')
    await vi.waitFor(async () => expect(await known.applied('x')).toBe(0))
  })

  it('reports that nothing listens', async () => {
    const store = new ValkeyStore({
      address: { host: '127.0.0.1', port: 1 },
      clock: Date.now,
    })
    onTestFinished(() => store.close())
    await vi.waitFor(() => expect(store.applied('x')).rejects.toThrow(/ECONNREFUSED/))
  })
})
