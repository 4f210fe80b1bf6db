import { afterAll, beforeAll, expect, it } from 'vitest'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'
import {
  accessibilityProblems,
  chromiumPath,
  launchBrowser,
  settled,
  watch,
} from './browser.fixture.ts'
import { type Explorer, startExplorer } from './explorer.fixture.ts'
import { writeRegistry } from './registry.fixture.ts'
import { showcase, showcaseDepots } from './showcase.fixture.ts'

let server: Server
let explorer: Explorer
let browser: Awaited<ReturnType<typeof launchBrowser>>

beforeAll(async () => {
  if (chromiumPath === undefined) return
  const registry = new Registry()
  writeRegistry(registry.manifests, showcase, showcaseDepots)
  server = await startServer(registry)
  explorer = await startExplorer({ serverUrl: server.url })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await explorer?.stop()
  await server?.stop()
})

it.skipIf(chromiumPath === undefined)(
  'shows the registry from the answer in the page',
  async () => {
    const { page, problems, asked, close } = await watch(browser, explorer.url)
    await page.goto('/')
    await settled(page)
    expect(await page.title()).toBe('Registry · Depot')
    expect(await page.locator('tbody tr').count()).toBe(20)
    expect(asked).toEqual(['/-/api/namespaces'])
    expect(await accessibilityProblems(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  },
)
