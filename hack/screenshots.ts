import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { documentSamples } from './sample-docs.ts'
import { buildSamples } from './samples.ts'
import { chromiumPath, launchBrowser, withReadme } from './testbed/explorer/browser.ts'
import { fillDownloads } from './testbed/explorer/downloads.ts'
import { startExplorer } from './testbed/explorer/explorer.ts'
import { writeRegistry } from './testbed/explorer/manifests.ts'
import { readme, showcase, showcaseDepots } from './testbed/explorer/showcase.ts'
import { Registry } from './testbed/registry/registry.ts'
import { type Server, startServer } from './testbed/server/server.ts'

/*
 * `make screenshots`: pictures of the explorer for the documentation, of the registry that `make run` serves. With `--all` a
 * picture of every page of a large registry, in both themes and at three widths, below .depot/screenshots, to
 * look at.
 */

const repository = join(import.meta.dirname, '..')
const docs = join(repository, 'docs')

interface Shot {
  readonly path: string
  readonly file: string
  readonly theme: 'light' | 'dark'
  readonly width: number
  readonly height: number
}

const shots: readonly Shot[] = [
  { path: '/', file: 'explorer.png', theme: 'light', width: 1280, height: 440 },
  {
    path: '/platform/module/network',
    file: 'explorer-module.png',
    theme: 'light',
    width: 1280,
    height: 800,
  },
  {
    path: '/depots?node=platform/platform',
    file: 'explorer-depots.png',
    theme: 'dark',
    width: 1280,
    height: 560,
  },
]

const pages = {
  resources: '/',
  cards: '/?view=cards&severity=HIGH',
  nothing: '/?q=nothing-is-called-this',
  module: '/network/module/vpc',
  provider: '/platform/provider/acme-cmdb',
  'not-found': '/network/module/nothing',
  depots: '/depots?node=network/core-modules',
  list: '/depots?view=list',
  stats: '/stats',
  conflicts: '/conflicts',
  access: '/access?resource=payments/module/pci-vault',
}

function everything(): Shot[] {
  return (['light', 'dark'] as const).flatMap((theme) =>
    [320, 768, 1280].flatMap((width) =>
      Object.entries(pages).map(([name, path]) => ({
        path,
        file: `${name}-${width}-${theme}.png`,
        theme,
        width,
        height: 900,
      })),
    ),
  )
}

async function startSamples(registry: Registry): Promise<Server> {
  await buildSamples(registry.archives)
  await documentSamples(registry.archives, registry.manifests)
  return startServer(registry)
}

async function startLargeOne(registry: Registry): Promise<Server> {
  writeRegistry(registry.manifests, showcase, showcaseDepots)
  await fillDownloads(registry, showcase)
  return startServer(registry)
}

async function take(browser: Browser, origin: string, folder: string, shot: Shot): Promise<void> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width: shot.width, height: shot.height },
    colorScheme: shot.theme,
  })
  const page = await context.newPage()
  if (all) await withReadme(page, '/network/module/vpc', readme)
  await page.goto(shot.path)
  await page.waitForLoadState('networkidle')
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  const path = join(folder, shot.file)
  await page.screenshot({ path, animations: 'disabled' })
  console.log(`${path} ${Math.round(statSync(path).size / 1024)} KiB`)
  await context.close()
}

if (chromiumPath === undefined) {
  console.error('depot: Chromium is missing: install it, or set CHROMIUM_PATH')
  process.exit(1)
}
const all = process.argv.includes('--all')
const folder = all ? join(repository, '.depot/screenshots') : docs
mkdirSync(folder, { recursive: true })
const registry = new Registry()
const server = await (all ? startLargeOne(registry) : startSamples(registry))
const explorer = await startExplorer({
  serverUrl: server.url,
  flags: ['--base-url', 'https://depot.example.com'],
})
const browser = await launchBrowser()
for (const shot of all ? everything() : shots) await take(browser, explorer.url, folder, shot)
await browser.close()
await explorer.stop()
await server.stop()
rmSync(registry.dir, { recursive: true })
