import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sample } from '../../hack/testbed/explorer/manifests.ts'
import { chromiumPath, problemsInEveryLook, settled } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Known objects that are not served: their page, their count in the sidebar, and the marks that link there. */

const module = (namespace: string, name: string, rest: Partial<Sample> = {}): Sample => ({
  namespace,
  name,
  kind: 'module',
  provider: 'aws',
  versions: ['1.1.0', '1.0.0'],
  ...rest,
})

const samples: readonly Sample[] = [
  module('network', 'vpc'),
  module('network', 'vpc-from-an-import-with-a-long-name', { configName: 'vpc' }),
  module('data', 'bucket', { twice: ['1.0.0'] }),
  module('data', 'queue', { failed: ['1.1.0'] }),
  {
    namespace: 'platform',
    name: 'cmdb',
    kind: 'provider',
    versions: ['2.0.0'],
    twice: ['2.0.0'],
  },
]

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase(samples, [])
})
afterAll(() => showcase?.stop())

const link = (page: Page) =>
  page.getByRole('navigation', { name: 'Depot' }).getByRole('link', { name: /^Conflicts/ })
const section = (page: Page, name: string) => page.getByRole('region', { name })

describe.skipIf(chromiumPath === undefined)('conflicts', () => {
  it('are counted in the sidebar, and explained by reason on their own page', async () => {
    const { page, problems, close } = await showcase.open('/')
    await expect.poll(() => link(page).innerText()).toMatch(/Conflicts\s*5/)
    await link(page).click()
    await page.waitForURL('**/conflicts')
    await page.getByText('5 objects are known and not served').waitFor()
    expect(await page.locator('main h2').allInnerTexts()).toEqual([
      'Duplicate',
      'Address taken',
      'No digest',
    ])
    expect(await section(page, 'Duplicate').locator('header').innerText()).toMatch(/3/)
    const [bucket] = await section(page, 'Duplicate').locator('tbody tr').allInnerTexts()
    for (const words of [
      'data/bucket',
      '1.0.0',
      'data/bucket-1.0.0',
      'data/bucket-1.0.0-copy',
      'Duplicate of bucket-1.0.0, which has the same content: remove it.',
    ])
      expect(bucket?.replaceAll(/\s+/g, ' ').replaceAll('/ ', '/')).toContain(words)
    const taken = await section(page, 'Address taken').locator('tbody tr').innerText()
    expect(taken).toContain('all versions')
    expect(taken).toContain('network/vpc-from-an-import-with-a-long-name')
    expect(await section(page, 'No digest').locator('tbody tr').innerText()).toContain('Nothing')
    await page.getByText('depot explain data/bucket/aws 1.0.0').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('are filtered by reason, namespace and text in the URL', async () => {
    const { page, problems, close } = await showcase.open('/conflicts?reason=NoDigest')
    await page.getByText('1 object is known and not served').waitFor()
    // The count in the sidebar is that of all.
    await expect.poll(() => link(page).innerText()).toMatch(/5/)
    await page.getByLabel('Reason').selectOption('Any reason')
    await page.getByLabel('Namespace').selectOption('network')
    await page.waitForURL('**/conflicts?namespace=network')
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(1)
    await page.getByLabel('Search address or object').fill('nothing')
    await page.getByText('Nothing matches these filters.').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    await page.getByRole('link', { name: 'Clear' }).click()
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(5)
    expect(problems).toEqual([])
    await close()
  })

  it('mark their versions and resources, and each mark links to the page', async () => {
    const { page, problems, close } = await showcase.open('/')
    const row = page.getByRole('row', { name: /vpc-from-an-import/ })
    await row.getByRole('link', { name: 'Address taken' }).click()
    await page.waitForURL((url) => url.searchParams.get('reason') === 'AddressTaken')
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(1)

    await page.goto('/?view=cards&q=vpc-from')
    await page.locator('.card').getByRole('link', { name: 'Address taken' }).waitFor()
    await page.goto('/network/module/vpc-from-an-import-with-a-long-name')
    await page.getByText('Its address vpc/aws is that of vpc').first().waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])

    await page.goto('/data/module/bucket?tab=versions')
    const versions = page.getByRole('table', { name: 'Versions' })
    await versions.waitFor()
    const doubled = versions.getByRole('row', { name: /1\.0\.0/ }).first()
    await doubled.getByRole('link', { name: 'Duplicate' }).waitFor()
    expect(await doubled.innerText()).toContain('Synced')
    await versions.getByText('Duplicate of bucket-1.0.0').waitFor()
    expect(await versions.getByRole('link', { name: 'Duplicate' }).count()).toBe(1)
    expect(await problemsInEveryLook(page)).toEqual([])

    // The platforms of a provider are counted once.
    await page.goto('/platform/provider/cmdb')
    const provider = versions.getByRole('row', { name: /2\.0\.0/ }).first()
    expect(await provider.innerText()).toMatch(/\b2\b(?!\.| of)/)
    await provider.getByRole('link', { name: 'Duplicate' }).click()
    await page.waitForURL((url) => url.searchParams.get('reason') === 'Duplicate')
    await settled(page)
    expect(await page.locator('main tbody tr').count()).toBe(2)
    expect(problems).toEqual([])
    await close()
  })

  it('are hidden in the sidebar while there are none', async () => {
    const { page, problems, asked, close } = await showcase.open('/stats')
    await page.route('**/-/api/conflicts*', (route) =>
      route.fulfill({ json: { items: [], totalCount: 0, page: 1, pageSize: 20, counts: [] } }),
    )
    await page.goto('/access')
    await settled(page)
    expect(asked.some((url) => url.startsWith('/-/api/conflicts'))).toBe(true)
    expect(await link(page).count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('conflicts')
    await page.getByRole('option', { name: 'Conflicts', exact: true }).click()
    await page.getByText('Nothing is in conflict.').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })
})
