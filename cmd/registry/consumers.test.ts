import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type LoneServer, serveHttpsAlone } from '../../hack/testbed/upstream/https-server.ts'
import { usersOf, usersText } from './consumers.ts'
import { openRegistry } from './registry.ts'

const used = Array.from({ length: 120 }, (_, at) => ({
  consumer: `group:team-${at}`,
  versions: [{ version: '1.0.0', lastUsed: '2026-01-01', days: 1 }],
  lastUsed: '2026-01-01',
  behind: 0,
}))

let server: LoneServer
/** The answers of the registry to the question for consumers. */
let told: (url: URL) => readonly [status: number, body: object]

beforeAll(async () => {
  server = await serveHttpsAlone('registry', serve)
})
afterAll(() => server.close())
beforeEach(() => {
  told = ({ searchParams }) => {
    const first = 100 * (Number(searchParams.get('page')) - 1)
    const items = searchParams.get('version') === '1.0.0' ? used.slice(first, first + 100) : []
    return [200, { items, totalCount: items.length && used.length, consumers: 300 }]
  }
})

function serve({ url = '' }: IncomingMessage, outgoing: ServerResponse): void {
  const answer = (status: number, body: object) =>
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const asked = new URL(url, server.origin)
  if (url.startsWith('/.well-known/')) answer(200, { 'modules.v1': '/depot/modules/v1/' })
  else if (asked.pathname === '/depot/ui/v1/explain') {
    const claims = [{ kind: 'module', namespace: 'network', name: 'vpc-aws' }]
    answer(200, { claims })
  } else if (asked.pathname === '/depot/ui/v1/resources/network/module/vpc-aws/consumers')
    answer(...told(asked))
  else answer(404, {})
}

async function users(version: string, host = server.host) {
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const options = { egressAllow: [], egressCaPath: server.authority.caFile }
  await using registry = await openRegistry(options, [host])
  const found = await usersOf(registry, { host, path: 'network/vpc/aws', version })
  const written = stderr.mock.calls.map(([text]) => String(text)).join('')
  stderr.mockRestore()
  return { found, written }
}

it('reads all pages of who uses a version', async () => {
  const { found, written } = await users('v1.0.0')
  expect(written).toBe('')
  expect(found).toEqual({ version: '1.0.0', consumers: used, total: 300 })
  expect(await users('2.0.0')).toMatchObject({ found: { consumers: [], total: 300 } })
})

it.each([
  [401, { errors: ['log in'] }],
  [403, { errors: ['only those who may publish see it'] }],
  [404, { errors: ['none'] }],
  [200, { other: 'registry' }],
])('says nothing if the registry answers %i with %j', async (status, body) => {
  told = () => [status, body]
  expect(await users('1.0.0')).toEqual({ found: undefined, written: '' })
})

it('says why consumers are unknown if the registry fails, without control characters', async () => {
  told = () => [503, { errors: ['the \u001b[2Jstore is down'] }]
  const { found, written } = await users('1.0.0')
  expect(found).toBeUndefined()
  expect(written).toMatch(/^depot: who uses 1\.0\.0 is not known: .*store is down\n$/)
  expect(written).not.toContain('\u001b')
  const absent = await users('1.0.0', 'localhost:1')
  expect(absent.written).toContain('ECONNREFUSED')
})

it.each([
  [0, 0, 'No consumer of this module is known.'],
  [0, 1, 'None of 1 consumer uses 1.0.0.'],
  [1, 1, '1 of 1 consumer uses 1.0.0: group:team-0.'],
  [2, 300, '2 of 300 consumers use 1.0.0: group:team-0, group:team-1.'],
])('describes %i of %i consumers', (count, total, text) => {
  const consumers = used.slice(0, count)
  expect(usersText({ version: '1.0.0', consumers, total })).toBe(text)
})

it('names ten of many consumers', () => {
  const text = usersText({ version: '1.0.0', consumers: used, total: 300 })
  expect(text).toMatch(/^120 of 300 consumers use 1\.0\.0: group:team-0, .*, and 110 more\.$/)
  expect(text.split(', ')).toHaveLength(11)
})
