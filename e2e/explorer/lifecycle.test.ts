import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sample } from '../../hack/testbed/explorer/manifests.ts'
import { chromiumPath, problemsInEveryLook } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Versions that are deprecated, yanked or quarantined: the banner of a version, and the marks in lists. */

const lifecycle = [
  { versions: '2.0.0', state: 'Quarantined', message: 'it steals keys', replacedBy: '1.2.0' },
  { versions: '1.1.0', state: 'Yanked' },
  {
    versions: '1.0.0',
    state: 'Deprecated',
    message: 'Flow logs are not encrypted',
    link: 'https://wiki.test/vpc',
  },
]
const common = { namespace: 'network', versions: ['2.0.0', '1.2.0', '1.1.0', '1.0.0'], lifecycle }
const samples: readonly Sample[] = [
  { ...common, name: 'vpc', kind: 'module', provider: 'aws' },
  { ...common, name: 'cmdb', kind: 'provider' },
]

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath !== undefined) showcase = await startShowcase(samples, [])
})
afterAll(() => showcase?.stop())

const row = (page: Page, version: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: version }) })
const decoration = (page: Page, version: string) =>
  row(page, version)
    .getByRole('link', { name: version, exact: true })
    .evaluate((element) => getComputedStyle(element).textDecorationLine)

describe.skipIf(chromiumPath === undefined)('a version that is not active', () => {
  it.each(['module/vpc?tab=versions', 'provider/cmdb'])(
    'is marked in the versions of %s',
    async (path) => {
      const { page, problems, close } = await showcase.open(`/network/${path}`)
      await row(page, '2.0.0').getByText('Quarantined').waitFor()
      await row(page, '1.1.0').getByText('Yanked').waitFor()
      await row(page, '1.0.0').getByText('Deprecated').waitFor()
      const struck = ['2.0.0', '1.2.0', '1.1.0', '1.0.0'].map((version) =>
        decoration(page, version),
      )
      expect((await Promise.all(struck)).map((line) => line === 'line-through')).toEqual([
        true,
        false,
        true,
        false,
      ])
      await page.getByText('Latest', { exact: true }).first().waitFor()
      expect(await row(page, '1.2.0').innerText()).toContain('Latest')
      expect(await problemsInEveryLook(page)).toEqual([])
      expect(problems).toEqual([])
      await close()
    },
  )

  it('says on its page why, and which version to use instead', async () => {
    const { page, problems, close } = await showcase.open('/network/module/vpc?version=2.0.0')
    const note = page.locator('.note.fail')
    await note.getByText('which is quarantined and cannot be downloaded').waitFor()
    await page.getByText('2.0.0 is quarantined: choose another version.').waitFor()
    await note.getByText('It steals keys. Take 1.2.0 instead.').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    await note.getByRole('link', { name: '1.2.0', exact: true }).last().click()
    await page.waitForURL('**/network/module/vpc?version=1.2.0')
    await page.goBack()
    await note.getByRole('link', { name: 'Go to latest' }).click()
    await page.waitForURL('**/network/module/vpc')
    await note.waitFor({ state: 'detached' })
    await page.getByLabel('Version', { exact: true }).selectOption('1.0.0, deprecated')
    const warning = page.locator('.note.warn')
    await warning.getByText('Flow logs are not encrypted.').waitFor()
    const link = warning.getByRole('link', { name: 'More about it' })
    expect(await link.getAttribute('href')).toBe('https://wiki.test/vpc')
    expect(problems).toEqual([])
    await close()
  })
})
