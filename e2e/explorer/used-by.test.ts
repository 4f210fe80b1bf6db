import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ExplorerProcess } from '../../hack/testbed/explorer/explorer.ts'
import { writeRegistry } from '../../hack/testbed/explorer/manifests.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { SqliteStore } from '../../pkg/registry/downloads/downloads.ts'
import {
  chromiumPath,
  type Look,
  launchBrowser,
  problemsInEveryLook,
  settled,
  watch,
} from './browser.fixture.ts'
import { startExplorerAs } from './person-explorer.fixture.ts'

/* Consumers of a module: their list for publishers of the module, and the text for everybody else. */

const today = Math.floor(Date.now() / 86_400_000)
const dateOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10)
const hostile = '<img src=x onerror=alert(1)>"\u202egpj'
const crowd = Array.from({ length: 1_010 }, (_, at) => `group:${'team-'.repeat(30)}${at}`)

/** Downloads of a day: module, consumer and version. */
const days: readonly (readonly (readonly [name: string, consumer: string, version: string])[])[] = [
  [['vpc', 'serviceaccount:payments/atlantis', '1.0.0']],
  [['vpc', 'serviceaccount:payments/atlantis', '1.0.0']],
  [['vpc', 'client:ci', '2.0.0']],
  [
    ['vpc', 'serviceaccount:payments/atlantis', '2.0.0'],
    ['vpc', `group:${hostile}`, '1.1.0'],
    ...['constructor:x', ...crowd].flatMap((consumer) =>
      Array.from({ length: 9 }, (_, at) => ['crowded', consumer, `0.${at}.0`] as const),
    ),
  ],
]

async function fillConsumers(path: string): Promise<void> {
  const store = new SqliteStore({ path, clock: Date.now })
  for (const [at, all] of days.entries()) {
    const uses = all.map(([name, consumer, version]) => ({
      kind: 'Module' as const,
      namespace: 'platform',
      name,
      consumer,
      version,
      day: today - days.length + 1 + at,
    }))
    await store.apply({ journal: 'it', after: at, last: at + 1, archives: [], hours: [], uses })
  }
  await store.close()
}

const sample = { namespace: 'platform', kind: 'module', provider: 'aws' } as const
const bindings = [
  {
    name: 'writers',
    expression: '"writers" in groups',
    publishNamespaces: ['platform'],
    publishModules: ['*'],
  },
  { name: 'z-readers', expression: 'true' },
].map(({ name, ...spec }) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'GroupBinding',
  metadata: { name, namespace: 'depot-system' },
  spec: { ...spec, moduleResources: ['*'], providerResources: [] },
}))

const stops = new AsyncDisposableStack()
let groups: readonly string[] = ['writers']
/** Whether the list is cut off. */
let isBroken = false
let browser: Browser
let explorer: ExplorerProcess

beforeAll(async () => {
  if (chromiumPath === undefined) return
  const registry = new Registry()
  stops.defer(() => registry.remove())
  writeRegistry(
    registry.manifests,
    [
      {
        ...sample,
        name: 'vpc',
        versions: ['2.0.0', '1.1.0', '1.0.0'],
        findings: [0],
        lifecycle: [{ versions: '1.1.0', state: 'Deprecated' }],
      },
      { ...sample, name: 'crowded', versions: ['2.0.0'] },
      { ...sample, name: 'unused', versions: ['1.0.0'] },
    ],
    [],
  )
  registry.write('bindings.yaml', bindings)
  await fillConsumers(join(registry.dir, 'stats.db'))
  explorer = await startExplorerAs(registry, stops, () => groups, {
    isBroken: (url) => isBroken && url.includes('/consumers'),
  })
  browser = await launchBrowser()
  stops.defer(() => browser.close())
})
afterAll(() => stops.disposeAsync())

async function open(path: string, look: Look = {}) {
  const watched = await watch(browser, explorer.url, look)
  await watched.page.goto(`/platform/module/${path}`)
  await settled(watched.page)
  const part = watched.page.getByRole('region', { name: 'Used by' })
  const rows = part.locator('tbody tr')
  return { ...watched, part, rows }
}

describe.skipIf(chromiumPath === undefined)('the consumers of a module', () => {
  it('are requested when their tab is opened, with keys alone, and can be filtered', async () => {
    const { page, part, rows, asked, problems, close } = await open('vpc')
    expect(asked.filter((url) => url.includes('/consumers'))).toEqual([])
    const tabs = page.getByRole('navigation', { name: 'Of this version' })
    await tabs.getByRole('link', { name: 'Findings' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/platform/module/vpc?tab=used-by`)
    await rows.first().waitFor()
    expect(await part.locator('dl').innerText()).toMatch(
      /90 days\s+3\s.*\s+1\s[\s\S]*findings\s+2$/,
    )
    const [account, group, program] = await rows.allInnerTexts()
    expect(account).toMatch(
      /^payments\/atlantis\s+service account\s+2\.0\.0\s+1 day\s+1\.0\.0\s+C 2[\s\S]*2 days, last on \S+\s+2 releases/,
    )
    expect(account).toContain(`last on ${dateOf(today - 2)}`)
    expect(account?.endsWith(dateOf(today))).toBe(true)
    expect(group).toMatch(/^<img src=x onerror=alert\(1\)>"[\s\S]*\s1\.1\.0\s+Deprecated/)
    expect(program).toMatch(/^ci\s+program\s+2\.0\.0\s+1 day\s+Latest/)
    expect(await problemsInEveryLook(page, [320, 768, 1440])).toEqual([])
    await part.getByLabel('State of consumers').selectOption('deprecated')
    await part.getByRole('status').getByText('1', { exact: true }).waitFor()
    await part.getByLabel('Version used').selectOption('1.0.0')
    await part.getByRole('heading', { name: 'Nothing matches these filters.' }).waitFor()
    expect(page.url()).toContain('?tab=used-by&u_version=1.0.0&u_state=deprecated')
    await part.getByRole('button', { name: 'Clear' }).click()
    await expect.poll(() => rows.count()).toBe(3)
    await part.getByRole('searchbox', { name: 'Search consumers' }).fill('ATLANTIS')
    await expect.poll(() => rows.count()).toBe(1)
    expect(page.url()).toMatch(/\?tab=used-by&u_q=ATLANTIS$/)
    await part.getByRole('searchbox').fill('nobody')
    await part.getByRole('heading', { name: 'Nothing matches these filters.' }).waitFor()
    expect(await problemsInEveryLook(page, [320, 768, 1440])).toEqual([])
    await part.getByRole('button', { name: 'Clear' }).click()
    await expect.poll(() => rows.count()).toBe(3)
    expect(await part.getByRole('searchbox').inputValue()).toBe('')
    await part.getByRole('button', { name: 'Copy command' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
      /^depot consumers \S+\/platform\/vpc\/aws --outdated -o csv$/,
    )
    expect(problems).toEqual([])
    await close()
  })

  it('are paged if there are a thousand, with many versions and long names', async () => {
    const { page, part, rows, problems, close } = await open('crowded?tab=used-by')
    await part.getByText('1 to 20 of 1,001 consumers').waitFor()
    const [others, unknown] = await rows.allInnerTexts()
    expect(others).toMatch(/^others\s+all after the first 1,000\s+0\.8\.0\s+Gone/)
    expect(unknown).toMatch(/^constructor:x\s/)
    await rows.first().getByText('4 older versions').click()
    await rows.first().getByText('0.0.0').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    await part.getByRole('link', { name: 'Page 51' }).click()
    await part.getByText('1,001 to 1,001 of 1,001 consumers').waitFor()
    expect(page.url()).toContain('u_page=51')
    expect(problems).toEqual([])
    await close()
  })

  it('are counted on the comparison of one of their versions, for people who may see them', async () => {
    const verdict = { verdict: 'compatible', changes: [], readme: 'same' }
    const compared = async () => {
      const { page, problems, close } = await watch(browser, explorer.url)
      await page.route('**/-/api/resources/platform/module/vpc/compare*', (route) =>
        route.fulfill({ json: { ...verdict, from: '1.0.0', to: '2.0.0' } }),
      )
      await page.goto('/platform/module/vpc/compare/1.0.0...2.0.0')
      await settled(page)
      return { page, problems, close, text: await page.locator('.verdict').innerText() }
    }
    const writer = await compared()
    await writer.page.getByText('3 consumers use this module, 1 of them 1.0.0.').waitFor()
    expect(await problemsInEveryLook(writer.page)).toEqual([])
    await writer.page.getByRole('link', { name: 'Used by' }).click()
    await writer.page.waitForURL('**/vpc?tab=used-by&u_version=1.0.0')
    expect(writer.problems).toEqual([])
    await writer.close()
    groups = ['readers']
    onTestFinished(() => {
      groups = ['writers']
    })
    const reader = await compared()
    expect(reader.text).not.toContain('consumer')
    expect(reader.problems).toEqual([])
    await reader.close()
  })

  it('are hidden from readers, who read how to get the right', async () => {
    groups = ['readers']
    onTestFinished(() => {
      groups = ['writers']
    })
    const { page, part, problems, close } = await open('vpc?tab=used-by', { expected: [403] })
    await part
      .getByRole('alert')
      .getByText(/^Only those who may publish platform\/vpc see who uses it: .*publishNamespaces/)
      .waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('say if there are none, and if they cannot be loaded', async () => {
    const empty = await open('unused?tab=used-by')
    await empty.part.getByRole('heading', { name: 'No consumer is known.' }).waitFor()
    expect(await problemsInEveryLook(empty.page)).toEqual([])
    expect(empty.problems).toEqual([])
    await empty.close()
    isBroken = true
    const failed = await open('vpc?tab=used-by', { expected: [502] })
    await failed.part.getByText('The list of consumers could not be loaded.').waitFor()
    isBroken = false
    await failed.part.getByRole('button', { name: 'Retry' }).click()
    await failed.rows.first().waitFor()
    expect(failed.problems).toEqual([])
    await failed.close()
  })
})
