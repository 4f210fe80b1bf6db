import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Browser } from 'playwright-core'
import { chromiumPath, launchBrowser, withReadme } from './testbed/explorer/browser.ts'
import { startExplorer } from './testbed/explorer/explorer.ts'
import { writeRegistry } from './testbed/explorer/manifests.ts'
import { readme, showcase, showcaseDepots } from './testbed/explorer/showcase.ts'
import { Registry } from './testbed/registry/registry.ts'
import { startServer } from './testbed/server/server.ts'

/*
 * `make screenshots`: pictures of the explorer for the documentation, of a registry as a company has one. With `--all` a
 * picture of every page, in both themes and at three widths, below .depot/screenshots, to look at.
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
  { path: '/', file: 'explorer.png', theme: 'light', width: 1280, height: 800 },
  {
    path: '/network/module/vpc',
    file: 'explorer-module.png',
    theme: 'light',
    width: 1280,
    height: 800,
  },
  {
    path: '/depots?node=network/core-modules',
    file: 'explorer-depots.png',
    theme: 'dark',
    width: 1280,
    height: 800,
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

/** Downloads as a year of use leaves them; the file is one that a server made. */
function fillDownloads(file: string): void {
  const database = new DatabaseSync(file)
  const insert = database.prepare('INSERT INTO downloads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const hour = database.prepare('INSERT INTO hours VALUES (?, ?, ?, ?, ?)')
  const now = Math.floor(Date.now() / 3_600_000)
  let revision = 1
  for (const [at, { kind, namespace, name, versions, platforms = [''] }] of showcase.entries()) {
    const kindName = kind === 'module' ? 'Module' : 'Provider'
    for (let days = 0; days < 30; days += 1) {
      const count = 20 + ((days * 37 + at * 11) % 53) + (days % 7 < 5 ? 60 : 0)
      hour.run(kindName, namespace, name, now - days * 24, count)
    }
    for (const [age, version] of versions.entries()) {
      const [os = '', arch = ''] = (platforms[0] ?? '').split('/')
      const count = Math.round(
        (90_000 / (1 + ((at * 7) % 13)) ** 2 / (1 + age)) * (kind === 'module' ? 1 : 3),
      )
      const lastAt = Date.now() - (age * 37 + at * 3 + 1) * 60_000
      insert.run(kindName, namespace, name, version, os, arch, count, lastAt, revision)
      revision += 1
    }
  }
  database.close()
}

async function take(browser: Browser, origin: string, folder: string, shot: Shot): Promise<void> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width: shot.width, height: shot.height },
    colorScheme: shot.theme,
  })
  const page = await context.newPage()
  await withReadme(page, '/network/module/vpc', readme)
  await page.goto(shot.path)
  await page.waitForLoadState('networkidle')
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  const path = join(folder, shot.file)
  await page.screenshot({ path, animations: 'disabled' })
  console.log(`${path} ${Math.round(statSync(path).size / 1024)} KiB`)
  await context.close()
}

if (chromiumPath === undefined) {
  console.error('depot: there is no Chromium here: install it, or set CHROMIUM_PATH')
  process.exit(1)
}
const all = process.argv.includes('--all')
const folder = all ? join(repository, '.depot/screenshots') : docs
mkdirSync(folder, { recursive: true })
const registry = new Registry()
writeRegistry(registry.manifests, showcase, showcaseDepots)
await (await startServer(registry)).stop()
fillDownloads(join(registry.dir, 'stats.db'))
const server = await startServer(registry)
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
