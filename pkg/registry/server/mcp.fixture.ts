import { hash } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { emptyRoot, type FolderDocs, type ModuleDocs } from '../../api/docs/docs.ts'
import { docsFileName } from '../../api/v1alpha1/v1alpha1.ts'
import { PageCollector } from '../../archives/docs/docs.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { AccessFixture } from './access.fixture.ts'
import type { App, AppOptions } from './app.ts'

export const mcpUrl = 'https://registry.test/depot/mcp'

const platform = { operatingSystem: 'linux', architecture: 'amd64' }

/** A registry that agents ask with the official client. */
export class McpFixture extends AccessFixture {
  mcpApp(options: Partial<AppOptions> = {}): App['routes'] {
    return this.app({
      mcp: { metrics: createMetrics({ version: 'test' }), version: '1.2.3' },
      ...options,
    })
  }

  /** A client that is connected. */
  async connect(
    options: Partial<AppOptions> = {},
    { mode = 'auto', token }: { mode?: 'legacy' | 'auto'; token?: string } = {},
  ): Promise<Client> {
    const app = this.mcpApp(options)
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const transport = new StreamableHTTPClientTransport(new URL(mcpUrl), {
      fetch: async (to, init) => app.request(new Request(to, init)),
      ...(token !== undefined && { authProvider: { token: async () => token } }),
    })
    await client.connect(transport)
    return client
  }

  /** A call of a tool by a client of its own. */
  async call(name: string, input: object, options: Partial<AppOptions> = {}) {
    const client = await this.connect(options)
    const result = await callTool(client, name, input)
    await client.close()
    return result
  }

  /** A version of a module with documentation in storage. */
  documented(name: string, version: string, root: Partial<FolderDocs>, more = {}): void {
    const docs: ModuleDocs = {
      schema: 1,
      root: { ...emptyRoot, ...root },
      submodules: [],
      examples: [],
      ...more,
    }
    const bytes = gzipSync(JSON.stringify(docs))
    const content = `archive ${name} ${version}`
    const fileName = `${name}_${version}.zip`
    const artifact = {
      fileName,
      docs: { sha256: hash('sha256', bytes), sizeBytes: bytes.length },
    }
    this.version('Module', name, version, { content, status: { artifact } })
    this.write(join('modules', name, docsFileName(fileName, hash('sha256', content))), bytes)
  }

  /** A version of a provider with pages of documentation in storage. */
  async paged(name: string, version: string, pages: Readonly<Record<string, string>>) {
    const collector = new PageCollector()
    for (const [path, text] of Object.entries(pages)) collector.take(path)?.(Buffer.from(text))
    const packed = await collector.packed()
    if (packed === undefined) throw new Error('there are no pages')
    const content = `archive ${name} ${version}`
    const fileName = `${name}_${version}.zip`
    const { sha256, sizeBytes, bytes } = packed
    const status = { artifact: { fileName, docs: { sha256, sizeBytes } } }
    this.version('Provider', name, version, { spec: platform, content, status })
    this.write(join('providers', name, docsFileName(fileName, hash('sha256', content))), bytes)
  }
}

export type McpAnswer = Record<string, unknown> & { readonly next?: string }

export async function callTool(client: Client, name: string, input: object) {
  const result = await client.callTool({ name, arguments: { ...input } })
  const { structuredContent, content, isError } = result
  const [block] = content
  const text = block?.type === 'text' ? block.text : ''
  return { answer: structuredContent as McpAnswer, isError: isError === true, text }
}

/** All pages of an answer. */
export async function allPages(client: Client, name: string, input: object) {
  const pages: Awaited<ReturnType<typeof callTool>>[] = []
  let cursor: string | undefined
  do {
    const page = await callTool(client, name, { ...input, ...(cursor && { cursor }) })
    pages.push(page)
    cursor = page.answer.next
  } while (cursor !== undefined && pages.length < 1000)
  return pages
}
