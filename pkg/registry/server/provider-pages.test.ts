import { hash } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProviderPages, ProviderPageText } from '../../api/browse/browse.ts'
import { docsFileName } from '../../api/v1alpha1/v1alpha1.ts'
import { PageCollector } from '../../archives/docs/docs.ts'
import { AccessFixture } from './access.fixture.ts'

let fixture: AccessFixture
beforeEach(() => {
  fixture = new AccessFixture()
  fixture.provider('cmdb')
})
afterEach(() => fixture[Symbol.dispose]())

const platform = { operatingSystem: 'linux', architecture: 'amd64' }

/** Adds a version with pages. @returns the path of its documentation */
async function documented(version: string, pages: Readonly<Record<string, string>>) {
  const collector = new PageCollector()
  for (const [path, text] of Object.entries(pages)) collector.take(path)?.(Buffer.from(text))
  const packed = await collector.packed()
  if (packed === undefined) throw new Error('there are no pages')
  const content = `archive ${version}`
  const fileName = `cmdb_${version}.zip`
  const { sha256, sizeBytes } = packed
  const status = { artifact: { fileName, docs: { sha256, sizeBytes } } }
  fixture.version('Provider', 'cmdb', version, { spec: platform, content, status })
  const path = join('providers/cmdb', docsFileName(fileName, hash('sha256', content)))
  fixture.write(path, packed.bytes)
  return path
}

const resource = '/depot/ui/v1/resources/platform/provider/cmdb'
const list = `${resource}/pages`
const ask = async (target: string, headers: Record<string, string> = {}) => {
  const response = await fixture.app().request(target, { headers })
  const text = await response.text()
  const body: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, body, etag: response.headers.get('etag') ?? '' }
}

const host =
  '---\nsubcategory: Inventory\npage_title: cmdb_host Resource\n---\n# cmdb_host <script>'

describe('the pages of a provider', () => {
  it('are listed for the latest version, or a given one', async () => {
    await documented('1.0.0', { 'docs/index.md': 'old' })
    await documented('1.1.0', { 'docs/index.md': '# CMDB', 'docs/resources/host.md': host })
    const { status, body } = await ask(list)
    expect(status).toBe(200)
    expect(ProviderPages.parse(body)).toMatchObject({
      address: 'cmdb',
      version: '1.1.0',
      pages: [
        { category: 'overview', slug: 'index' },
        { category: 'resources', slug: 'host', title: 'cmdb_host', subcategory: 'Inventory' },
      ],
    })
    expect((await ask(`${list}?version=v1.0.0`)).body).toMatchObject({ version: '1.0.0' })
    expect((await ask(resource)).body).toMatchObject({ hasPages: true })
  })

  it('are sent one by one, with an ETag', async () => {
    await documented('1.0.0', { 'docs/index.md': '# CMDB', 'docs/resources/host.md': host })
    const { body, etag } = await ask(`${list}/resources/host`)
    expect(ProviderPageText.parse(body)).toMatchObject({
      title: 'cmdb_host',
      markdown: '# cmdb_host <script>',
    })
    const again = await ask(`${list}/resources/host`, { 'if-none-match': etag })
    expect(again).toMatchObject({ status: 304, body: undefined })
  })

  it.each([
    ['/resources/rack', 404, 'version 1.0.0 of provider platform/cmdb has no page resources/rack'],
    ['/secrets/host', 400, 'category must be one of overview, guides, resources'],
    ['/resources/..%2f..%2fx', 404, 'has no page resources/../../x'],
    ['?version=9.9.9', 404, 'provider platform/cmdb has no version 9.9.9'],
  ])('are refused at %s with %d', async (path, status, message) => {
    await documented('1.0.0', { 'docs/index.md': '# CMDB' })
    const answer = await ask(list + path)
    expect(answer).toMatchObject({
      status,
      body: { errors: [expect.stringContaining(message) as string] },
    })
  })

  it('say so if a version or a module has none, or storage has something else', async () => {
    fixture.version('Provider', 'cmdb', '0.9.0', { spec: platform, content: 'bare' })
    const none = 'version 0.9.0 of provider platform/cmdb has no documentation: docs/'
    expect((await ask(list)).body).toEqual({ errors: [expect.stringContaining(none)] })
    fixture.module('vpc')
    const { body } = await ask(list.replace('provider/cmdb', 'module/vpc'))
    expect(body).toEqual({ errors: [expect.stringContaining('only providers have')] })
    const path = await documented('1.0.0', { 'docs/index.md': '# CMDB' })
    fixture.write(path, Buffer.from('other'))
    expect((await ask(list)).status).toBe(502)
  })

  it('are in the detail of the public registry', async () => {
    await documented('1.0.0', { 'docs/resources/host.md': host })
    expect((await ask('/v1/providers/platform/cmdb/1.0.0')).body).toMatchObject({
      docs: [
        {
          id: 'platform/cmdb/1.0.0/resources/host',
          title: 'cmdb_host',
          path: 'docs/resources/host.md',
          slug: 'host',
          category: 'resources',
          subcategory: 'Inventory',
          language: 'hcl',
        },
      ],
    })
  })
})

it.each([
  ['registry.opentofu.org/acme/dns', 'https://search.opentofu.org/provider/acme/dns/v1.0.0'],
  ['registry.terraform.io/acme/dns', 'https://registry.terraform.io/providers/acme/dns/1.0.0/docs'],
  ['registry.example.com/acme/dns', undefined],
])('a provider of %s has the link %s', async (upstreamAddress, upstreamDocsUrl) => {
  fixture.add('Provider', 'dns', { spec: { providerConfig: {} }, status: { upstreamAddress } })
  fixture.version('Provider', 'dns', '1.0.0', { spec: platform, content: 'dns' })
  const { body } = await ask('/depot/ui/v1/resources/platform/provider/dns')
  expect((body as { upstreamDocsUrl?: string }).upstreamDocsUrl).toBe(upstreamDocsUrl)
})
