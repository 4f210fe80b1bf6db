import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AccessFixture } from './access.fixture.ts'
import type { AppOptions } from './app.ts'

let fixture: AccessFixture
beforeEach(() => {
  fixture = new AccessFixture()
})
afterEach(() => fixture[Symbol.dispose]())

const url = 'https://registry.test/depot/mcp'
const appWith = (options: Partial<AppOptions> = {}) =>
  fixture.app({ mcp: { metrics: fixture.metrics, version: '1.2.3' }, ...options })

/** The official client, connected. */
async function connect(options: Partial<AppOptions> = {}, mode: 'legacy' | 'auto' = 'auto') {
  const app = appWith(options)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (to, init) => app.request(new Request(to, init)),
  })
  await client.connect(transport)
  return client
}

async function call(name: string, input: object, options: Partial<AppOptions> = {}) {
  const client = await connect(options)
  const { structuredContent, content, isError } = await client.callTool({
    name,
    arguments: { ...input },
  })
  await client.close()
  const [block] = content
  return { answer: structuredContent, isError, text: block?.type === 'text' ? block.text : '' }
}

describe.each(['auto', 'legacy'] as const)('a client that negotiates %s', (mode) => {
  it('learns the tools, which only read', async () => {
    const client = await connect({}, mode)
    expect(client.getServerVersion()).toMatchObject({ name: 'depot', version: '1.2.3' })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('search_modules')
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    await client.close()
  })

  it('finds a module and reads how to use it', async () => {
    fixture.module('network')
    fixture.version('Module', 'network', '1.0.0')
    const client = await connect({}, mode)
    const found = await client.callTool({ name: 'search_modules', arguments: { query: 'netw' } })
    expect(found.structuredContent).toMatchObject({
      totalCount: 1,
      items: [{ address: 'platform/network/aws', latestVersion: '1.0.0' }],
    })
    const input = { module: 'registry.test/platform/network/aws' }
    const { structuredContent } = await client.callTool({ name: 'get_module', arguments: input })
    expect(structuredContent).toMatchObject({
      source: 'registry.test/platform/network/aws',
      usage: { untrusted: true, text: expect.stringContaining('version = "1.0.0"') as string },
    })
    await client.close()
  })
})

it('answers with the same JSON as text', async () => {
  fixture.module('network')
  const { answer, text } = await call('search_modules', { query: 'network' })
  expect(JSON.parse(text)).toEqual(answer)
})
