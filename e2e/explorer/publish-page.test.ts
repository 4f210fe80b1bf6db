import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ExplorerProcess } from '../../hack/testbed/explorer/explorer.ts'
import { type Sample, writeRegistry } from '../../hack/testbed/explorer/manifests.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import {
  chromiumPath,
  type Look,
  launchBrowser,
  problemsInEveryLook,
  settled,
  watch,
} from './browser.fixture.ts'
import { deploy } from './deployment.fixture.ts'
import { startExplorerAs } from './person-explorer.fixture.ts'

/* The page that shows how to publish: commands for the namespaces of the caller, and what other people have to ask for. */

const module = (namespace: string, name: string, rest: Partial<Sample> = {}): Sample => ({
  namespace,
  name,
  kind: 'module',
  provider: 'aws',
  versions: ['2.0.0', '1.0.0'],
  ...rest,
})

const bindings = [
  {
    name: 'all',
    expression: '"all" in groups',
    publishNamespaces: ['network', 'security'],
    publishModules: ['*'],
    publishProviders: ['*'],
  },
  {
    name: 'some',
    expression: '"some" in groups',
    publishNamespaces: ['network'],
    publishModules: ['vpc-*', 'dns'],
  },
  { name: 'z-readers', expression: 'true' },
].map(({ name, ...spec }) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'GroupBinding',
  metadata: { name, namespace: 'depot-system' },
  spec: { ...spec, moduleResources: ['*'], providerResources: ['*'] },
}))

const stops = new AsyncDisposableStack()
let groups: readonly string[] = ['all']
let browser: Browser
let explorer: ExplorerProcess

beforeAll(async () => {
  if (chromiumPath === undefined) return
  const registry = new Registry()
  stops.defer(() => registry.remove())
  writeRegistry(
    registry.manifests,
    [
      module('network', 'vpc'),
      module('network', 'made-by-an-import', { configName: 'dns_zone' }),
      { namespace: 'security', name: 'cmdb', kind: 'provider', versions: ['1.0.0'] },
    ],
    [],
  )
  registry.write('bindings.yaml', bindings)
  explorer = await startExplorerAs(registry, stops, () => groups, {
    // Nothing has to listen there until somebody publishes.
    serverFlags: ['--sync-url', 'http://127.0.0.1:9'],
  })
  browser = await launchBrowser()
  stops.defer(() => browser.close())
})
afterAll(() => stops.disposeAsync())

const open = async (path = '/publish', look: Look = {}) => {
  const watched = await watch(browser, explorer.url, look)
  await watched.page.goto(path)
  await settled(watched.page)
  return watched
}

const as = (...names: string[]): void => {
  groups = names
  onTestFinished(() => {
    groups = ['all']
  })
}

const note = (page: Page) => page.locator('#publish-note')
const blocks = (page: Page) => page.locator('.three-ways pre').allInnerTexts()
const system = (page: Page) => page.getByRole('textbox', { name: 'System' })
const widths = [320, 480, 768, 1024, 1440]

describe.skipIf(chromiumPath === undefined)('publishing', () => {
  it('is opened from the sidebar, and fills in the commands during typing', async () => {
    const { page, problems, close } = await open('/')
    await page.getByRole('link', { name: 'Publish' }).click()
    await page.getByText('You may publish to network and security.').waitFor()
    await note(page).getByText('Type a name and a system.').waitFor()
    expect((await blocks(page))[1]).toContain('/network/NAME/SYSTEM')
    await page.getByLabel('Name', { exact: true }).fill('vpc')
    await system(page).fill('aws')
    await note(page).getByText('network/vpc/aws exists, latest is 2.0.0.').waitFor()
    await page.getByLabel('Version').fill('2.1.0')
    await note(page).getByText('2.1.0 is free.').waitFor()
    const { host } = new URL(explorer.url)
    const [depot = '', command = '', manifest = '', apply = ''] = await blocks(page)
    expect(depot).toContain('kind: Depot')
    expect(depot).toContain('repoUrl: https://git.example.com/network/vpc')
    expect(command).toBe(
      `depot publish module . \\\n  --to ${host}/network/vpc/aws \\\n  --version 2.1.0`,
    )
    expect(manifest).toContain('fileName: vpc-2.1.0.zip')
    expect(manifest).not.toContain('kind: Module')
    expect(apply).toBe('kubectl apply --server-side -f vpc-2.1.0.yaml')
    await page.waitForURL('**/publish?name=vpc&system=aws&version=2.1.0')
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    await page.getByRole('button', { name: 'Copy publish command' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(command)
    for (const [tab, variable] of [
      ['GitHub Actions', '$GITHUB_REF_NAME'],
      ['GitLab', '$CI_COMMIT_TAG'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click()
      expect((await blocks(page))[1]).toContain(
        `depot publish module . --to ${host}/network/vpc/aws --version "${variable}"`,
      )
      expect(await problemsInEveryLook(page, widths)).toEqual([])
    }
    expect(problems).toEqual([])
    await close()
  })

  it('says that a number is taken, and what is wrong with a field', async () => {
    const { page, problems, close } = await open('/publish?name=vpc&system=aws&version=v2.0.0')
    await note(page).getByText('2.0.0 of network/vpc/aws exists.').waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    const version = page.getByLabel('Version')
    await version.fill('2.1')
    await note(page).getByText('Version 2.1 has two parts. It needs three, as 2.1.0.').waitFor()
    expect(await version.getAttribute('aria-invalid')).toBe('true')
    expect(await version.getAttribute('aria-describedby')).toBe('publish-note')
    expect(await problemsInEveryLook(page)).toEqual([])
    await version.fill('3.0.0')
    await note(page).getByText('3.0.0 is free.').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('uses the name of the object in the registry, and adds the missing one', async () => {
    const { page, problems, close } = await open(
      '/publish?name=dns_zone&system=aws&version=2.0.1',
      { expected: [404] },
    )
    await note(page).getByText('network/dns_zone/aws exists').waitFor()
    expect((await blocks(page))[2]).toContain('name: made-by-an-import-2.0.1')
    await page.getByLabel('Name', { exact: true }).fill('nothing_yet')
    await note(page).getByText('network/nothing_yet/aws does not exist').waitFor()
    const manifest = (await blocks(page))[2] ?? ''
    expect(manifest).toContain('kind: Module')
    expect(manifest).toContain('name: nothing-yet-2.0.1')
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('shows providers without a system', async () => {
    const { page, problems, close } = await open()
    await page.getByRole('button', { name: 'Provider' }).click()
    await page.getByLabel('Namespace').selectOption('security')
    await page.getByLabel('Name', { exact: true }).fill('cmdb')
    await page.getByLabel('Version').fill('1.0.0')
    await note(page).getByText('1.0.0 of security/cmdb exists.').waitFor()
    expect(await system(page).count()).toBe(0)
    expect((await blocks(page))[2]).toContain('operatingSystem: linux')
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('works with the keyboard alone', async () => {
    const { page, problems, close } = await open('/')
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.waitForURL('**/publish')
    await note(page).waitFor()
    await page.getByRole('button', { name: 'Module', exact: true }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => system(page).count()).toBe(0)
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.getByLabel('Namespace').inputValue()).toBe('security')
    await page.keyboard.press('Tab')
    await page.keyboard.type('cmdb')
    await note(page).getByText('security/cmdb exists').waitFor()
    await expect.poll(() => page.url()).toContain('namespace=security')
    // Enter in a field sends nothing.
    await page.keyboard.press('Enter')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('cmdb')
    expect(problems).toEqual([])
    await close()
  })

  it('names what a right is for, if it is not for all', async () => {
    as('some')
    const { page, problems, close } = await open()
    await page
      .getByText('In network, you may publish Modules with these names: vpc-* dns')
      .waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    await page.getByRole('button', { name: 'Provider' }).click()
    await page.getByText('You may not publish providers to network').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('says what to ask for, and whom, to callers who may publish nowhere', async () => {
    as('readers')
    const { page, problems, close } = await open()
    await page.getByRole('heading', { name: 'You may not publish anywhere yet' }).waitFor()
    await page.getByText(/^Whoever runs Depot adds the namespace to publishNamespaces/).waitFor()
    await page.getByRole('button', { name: 'Copy a text to ask' }).click()
    const asked = await page.evaluate(() => navigator.clipboard.readText())
    expect(asked).toContain('My groups: readers.')
    expect(asked).toContain('I match the group binding z-readers.')
    expect(await problemsInEveryLook(page, widths)).toEqual([])
    const who = { mode: 'bearer', kind: 'passthrough', groups: [], access: 'by the cluster' }
    await page.route('**/-/api/whoami', (route) => route.fulfill({ json: who }))
    await page.reload()
    await page.getByText(/^Whoever runs the namespace in the cluster gives you a Role/).waitFor()
    await page.route('**/-/api/whoami', (route) =>
      route.fulfill({ json: { ...who, mode: 'anonymous', kind: 'anonymous' } }),
    )
    await page.reload()
    await page.getByRole('heading', { name: 'Nobody publishes over HTTP here' }).waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('offers the sign-in to guests', async () => {
    const deployment = await deploy({ isBuilt: true, serverFlags: ['--anonymous-auth'] })
    const { page, problems, close } = await watch(browser, deployment.explorer.baseUrl)
    await page.goto('/publish')
    await page.getByRole('heading', { name: 'Sign in to publish' }).waitFor()
    const href = await page
      .locator('main')
      .getByRole('link', { name: 'Sign in' })
      .getAttribute('href')
    expect(href).toContain('publish')
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })
})
