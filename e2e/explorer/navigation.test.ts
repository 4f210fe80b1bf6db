import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { showcase as samples, showcaseDepots } from '../../hack/testbed/explorer/showcase.ts'
import { chromiumPath, settled, watch } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Links, the history, and namespaces with the names of the server's own paths. */

const reserved = ['depot', 'broker']
const [first] = samples
const [depot] = showcaseDepots

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath === undefined || first === undefined || depot === undefined) return
  showcase = await startShowcase(
    [...samples, ...reserved.map((namespace) => ({ ...first, namespace, name: 'colliding' }))],
    [
      ...showcaseDepots,
      ...reserved.map((namespace) => ({
        ...depot,
        namespace,
        name: 'own',
        modules: ['colliding'],
        providers: [],
      })),
    ],
  )
})
afterAll(() => showcase?.stop())

describe.skipIf(chromiumPath === undefined).each(reserved)('a namespace %s', (namespace) => {
  const path = `/-/r/${namespace}/module/colliding`
  const host = () => new URL(showcase.explorer.url).host

  it('has its own pages next to the paths of the server, and links to them', async () => {
    const { page, problems, close } = await showcase.open(`/?namespace=${namespace}`)
    for (const view of ['table', 'cards']) {
      await page.goto(`/?namespace=${namespace}&view=${view}`)
      await page.getByRole('link', { name: 'colliding', exact: true }).click()
      await page.waitForURL(`**${path}`)
      await page.getByRole('heading', { level: 1, name: 'colliding' }).waitFor()
    }
    expect((await page.reload())?.status()).toBe(200)
    await settled(page)
    expect(await page.title()).toBe(`colliding · ${namespace} · Depot`)
    expect(await page.locator('.code pre').first().innerText()).toContain(
      `"${host()}/${namespace}/colliding/`,
    )
    await page.getByRole('combobox', { name: 'Version' }).selectOption('4.4.1')
    await page.waitForURL(`**${path}?version=4.4.1`)
    expect(problems).toEqual([])
    await close()
  })

  it('can be opened from the palette, the depots and the page of access', async () => {
    const { page, problems, close } = await showcase.open('/stats')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to a module' }).waitFor()
    await page.keyboard.type('colliding')
    await page.getByRole('option', { name: new RegExp(`${namespace}/\\s*colliding`) }).click()
    await page.waitForURL(`**${path}`)
    await page.goto(`/depots?node=${namespace}/module/colliding&view=graph`)
    await page.locator('.panel').getByRole('link', { name: 'Open module' }).click()
    await page.waitForURL(`**${path}`)
    await page.goto(`/access?resource=${namespace}/module/colliding`)
    await page.getByRole('link', { name: `${namespace}/module/colliding` }).click()
    await page.waitForURL(`**${path}`)
    await page.locator('#usage').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('does not hide the path of that name on the server', async () => {
    const [own, passed] = await Promise.all(
      [showcase.server.url, showcase.explorer.url].map((url) =>
        fetch(`${url}/${namespace}/module/colliding`),
      ),
    )
    expect([passed?.status, await passed?.text()]).toEqual([own?.status, await own?.text()])
    expect(passed?.headers.get('content-type')).not.toContain('html')
  })
})

describe.skipIf(chromiumPath === undefined)('the URL', () => {
  it('adds a history entry for each choice, and one for all typed text', async () => {
    const { page, problems, close } = await showcase.open('/?page=2&unknown=1&sort_by=nonsense')
    const entries = () => page.evaluate(() => history.length)
    const query = () => new URL(page.url()).search
    const before = await entries()
    await page.getByLabel('Kind').selectOption('Modules')
    // Another filter goes to page 1 and drops unknown parameters.
    await expect.poll(query).toBe('?kind=module')
    expect(await entries()).toBe(before + 1)
    await page.getByLabel('Search names').pressSequentially('vpc')
    await expect.poll(query).toBe('?q=vpc&kind=module')
    expect(await entries()).toBe(before + 1)
    await page.getByLabel('Severity').selectOption('HIGH')
    await expect.poll(query).toBe('?q=vpc&kind=module&severity=HIGH')
    expect(await entries()).toBe(before + 2)
    await page.goBack()
    await expect.poll(query).toBe('?q=vpc&kind=module')
    await expect.poll(() => page.getByLabel('Severity').inputValue()).toBe('')
    await page.goBack()
    await expect.poll(query).toBe('?page=2&unknown=1&sort_by=nonsense')
    await expect.poll(() => page.getByLabel('Search names').inputValue()).toBe('')
    expect(problems).toEqual([])
    await close()
  })

  it('remembers the last view, and the other view has a link', async () => {
    const { page, problems, close } = await showcase.open('/')
    expect(await page.locator('main .card').count()).toBe(0)
    await page.getByRole('link', { name: 'Cards' }).click()
    await page.waitForURL('**/?view=cards')
    await page.locator('main .card').first().waitFor()
    await page.getByRole('link', { name: 'Stats' }).click()
    await page.waitForURL('**/stats')
    await page.getByRole('link', { name: 'Registry', exact: true }).click()
    await page.waitForURL('**/?view=cards')
    await page.locator('main .card').first().waitFor()
    expect(problems).toEqual([])
    await close()
  })
})

describe.skipIf(chromiumPath === undefined)('a link', () => {
  it('opens in another tab with Ctrl or the middle button, and keeps this one', async () => {
    const { page, problems, close } = await showcase.open('/')
    const link = page.getByRole('link', { name: 'redis', exact: true })
    const ways = [
      () => link.click({ modifiers: ['Control'] }),
      () => link.click({ button: 'middle' }),
    ]
    for (const click of ways) {
      const opened = page.context().waitForEvent('page')
      await click()
      const tab = await opened
      await tab.waitForURL('**/data/module/redis')
      await tab.close()
    }
    expect(new URL(page.url()).pathname).toBe('/')
    expect(problems).toEqual([])
    await close()
  })

  it('within the explorer loads no new document, and ends requests of the previous page', async () => {
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url, {
      expected: [0],
    })
    const loaded: string[] = []
    const ended: string[] = []
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loaded.push(request.url())
    })
    page.on('requestfailed', (request) => void ended.push(new URL(request.url()).pathname))
    await page.route('**/-/api/**/versions*', () => undefined)
    const asked = page.waitForRequest('**/-/api/**/versions*')
    await page.goto('/network/module/vpc?tab=versions')
    await asked
    await page.getByRole('link', { name: 'Stats' }).click()
    await page.getByRole('heading', { level: 1, name: 'Stats' }).waitFor()
    await expect.poll(() => ended).toContainEqual(expect.stringMatching(/\/vpc\/versions$/))
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
    expect(loaded).toHaveLength(1)
    expect(problems).toEqual([])
    await close()
  })
})
