import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, problemsInEveryLook, settled, watch } from './browser.fixture.ts'
import { showRegistry } from './documented-module.fixture.ts'
import { type ProviderVersion, writeProvider } from './documented-provider.fixture.ts'

/* The documentation of a provider as generators write it, in a real browser. */

const resource = (name: string, subcategory: string, text: string) =>
  `---\npage_title: "cmdb_${name} Resource - terraform-provider-cmdb"\nsubcategory: ${subcategory}\n---\n\n# cmdb_${name} (Resource)\n\n${text}\n`

const host = `A host in the configuration database. The provider reads its state, and writes only the fields that are set here.

## Example Usage

\`\`\`terraform
resource "cmdb_host" "web" {
  name     = "web-01.eu.example.com"
  location = data.cmdb_location.eu.id
}
\`\`\`

## Schema

### Required

- \`name\` (String) Full name of the host. See [the relation](relation.md#schema) and [locations](../data-sources/location).
- \`location\` (String) From [elsewhere](https://example.com/docs), [nowhere](../../secret.md).

| field | meaning |
| --- | --- |
| \`id\` | Number of the host. |

## Import

<script>globalThis.ran = 1</script> <img src=x onerror="globalThis.ran = 1"> [x](javascript:globalThis.ran=1)
`
const pages: Readonly<Record<string, string>> = {
  'docs/index.md':
    '---\npage_title: CMDB Provider\n---\n# CMDB Provider\n\nStart with a [host](resources/host.md).',
  'docs/guides/start.md': '---\npage_title: Getting started\n---\n# Getting started\n\nOne.',
  'docs/guides/upgrade.md':
    '---\npage_title: "\\u202E<b>Upgrade</b> to 0.9"\n---\n# Upgrade\n\nOne.',
  'docs/resources/host.md': resource('host', 'Inventory', host),
  'docs/resources/relation.md': resource('relation', 'Services', '## Schema\n\nText.'),
  'docs/resources/serial_console_port_assignment.md': resource(
    'serial_console_port_assignment',
    'Inventory',
    'Text.',
  ),
  'docs/data-sources/location.md':
    '---\npage_title: cmdb_location Data Source\n---\n# cmdb_location\n',
  'docs/functions/parse_id.md': '# parse_id\n',
}
const { 'docs/resources/relation.md': _, ...olderPages } = pages
const versions: readonly ProviderVersion[] = [
  ['0.9.1', pages],
  ['0.8.4', olderPages],
  ['0.8.0', undefined],
]

let shown: Awaited<ReturnType<typeof showRegistry>>
beforeAll(async () => {
  if (chromiumPath === undefined) return
  shown = await showRegistry(async (registry) => {
    await writeProvider(registry, 'cmdb', versions)
    const upstreamAddress = 'registry.opentofu.org/acme/dns'
    await writeProvider(registry, 'dns', [['1.0.0', undefined]], { upstreamAddress })
  })
})
afterAll(() => shown?.close())

const docs = '/platform/provider/cmdb/docs'
const tree = (page: Page) => page.getByRole('navigation', { name: 'Documentation' })
const text = (page: Page) => page.getByRole('article')

async function open(path: string, expected: readonly number[] = []) {
  const watched = await watch(shown.browser, shown.url, { width: 1440, expected })
  await watched.page.goto(path)
  await settled(watched.page)
  return watched
}

describe.skipIf(chromiumPath === undefined)('the documentation of a provider', () => {
  it('has a tree of its pages, which opens the branch of the current page', async () => {
    const { page, problems, close } = await open('/platform/provider/cmdb')
    await page.getByRole('link', { name: 'Docs' }).click()
    await page.waitForURL(`**${docs}`)
    await text(page).getByRole('heading', { name: 'CMDB Provider' }).waitFor()
    await text(page).getByRole('link', { name: 'host' }).click()
    await page.waitForURL(`**${docs}/resources/host`)
    await text(page).getByRole('heading', { name: 'cmdb_host (Resource)' }).waitFor()
    const current = tree(page).locator('[aria-current=page]')
    expect(await current.innerText()).toBe('cmdb_host')
    expect(await tree(page).locator('details.doc-fold > ul > li > details[open]').count()).toBe(1)
    expect(await page.title()).toBe('cmdb_host · cmdb · platform · Depot')
    await page.getByRole('navigation', { name: 'On this page' }).getByText('Import').click()
    await page.waitForURL('**#readme-import')
    expect(problems).toEqual([])
    await close()
  })

  it('links from page to page, and to other hosts as written', async () => {
    const { page, problems, close } = await open(`${docs}/resources/host?version=0.9.1`)
    const hrefOf = (name: string) => text(page).getByRole('link', { name }).getAttribute('href')
    expect(await hrefOf('the relation')).toBe(
      `${docs}/resources/relation?version=0.9.1#readme-schema`,
    )
    expect(await hrefOf('locations')).toBe(`${docs}/data-sources/location?version=0.9.1`)
    expect(await hrefOf('elsewhere')).toBe('https://example.com/docs')
    expect(await text(page).getByRole('link', { name: 'nowhere' }).count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('runs nothing of a page, and shows no mark that reverses text', async () => {
    const { page, problems, close } = await open(`${docs}/resources/host`)
    expect(await text(page).locator('script, img, [onerror]').count()).toBe(0)
    expect(await page.evaluate('globalThis.ran')).toBeUndefined()
    await tree(page).getByText('Guides').click()
    const title = tree(page).getByRole('link', { name: 'Upgrade' })
    expect(await title.innerText()).toBe('<b>Upgrade</b> to 0.9')
    expect(problems).toEqual([])
    await close()
  })

  it('filters pages, and moves by arrow keys', async () => {
    const { page, problems, close } = await open(docs)
    await page.getByRole('searchbox', { name: 'Filter 8 pages' }).fill('console')
    await page.waitForURL('**?q=console')
    await tree(page).getByText('Data sources').waitFor({ state: 'detached' })
    const found = tree(page).getByRole('link', { name: 'cmdb_serial_console_port_assignment' })
    await tree(page).locator('details.resources, .resources summary').first().focus()
    await page.keyboard.press('ArrowDown')
    expect(await found.evaluate((link) => link === document.activeElement)).toBe(true)
    await page.keyboard.press('ArrowLeft')
    await found.waitFor({ state: 'hidden' })
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${docs}/resources/serial_console_port_assignment?q=console`)
    expect(problems).toEqual([])
    await close()
  })

  it('keeps the page in another version, and says if that lacks it', async () => {
    const { page, problems, close } = await open(`${docs}/resources/relation`)
    await page.getByRole('combobox', { name: 'Version' }).selectOption('0.8.4')
    await page.waitForURL(`**${docs}/resources/relation?version=0.8.4`)
    await page.getByText('relation is not in 0.8.4.').waitFor()
    await page.getByRole('link', { name: 'Look for it in the latest version' }).click()
    await text(page).getByRole('heading', { name: 'cmdb_relation (Resource)' }).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('is a link if the public registry has it, and otherwise says that there is none', async () => {
    const upstream = 'https://search.opentofu.org/provider/acme/dns/v1.0.0'
    const dns = await open('/platform/provider/dns/docs', [404])
    const link = dns.page.getByRole('link', { name: 'search.opentofu.org' })
    expect(await link.getAttribute('href')).toBe(upstream)
    await dns.page.goto('/platform/provider/dns')
    await settled(dns.page)
    const documentation = dns.page.getByRole('link', { name: 'Documentation' })
    expect(await documentation.getAttribute('href')).toBe(upstream)
    expect(dns.problems).toEqual([])
    await dns.close()
    const none = await open(`${docs}?version=0.8.0`, [404])
    await none.page.getByText('has no documentation').waitFor()
    await none.close()
  })

  it.each(['', '/resources/host', '/resources/rack', '?version=0.8.0'])(
    'is accessible and fits into 320 px in both themes: %s',
    async (path) => {
      const { page, problems, close } = await open(docs + path, [404])
      expect(await problemsInEveryLook(page)).toEqual([])
      expect(problems).toEqual([])
      await close()
    },
  )
})
