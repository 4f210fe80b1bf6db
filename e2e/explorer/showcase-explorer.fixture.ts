import type { Browser } from 'playwright-core'
import { fillDownloads } from '../../hack/testbed/explorer/downloads.ts'
import { type ExplorerProcess, startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import {
  type Sample,
  type SampleDepot,
  writeRegistry,
} from '../../hack/testbed/explorer/manifests.ts'
import { showcase, showcaseDepots } from '../../hack/testbed/explorer/showcase.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'
import { type Look, launchBrowser, type Watched, watch } from './browser.fixture.ts'

/** A server of a registry, an explorer in front of it, and a browser. */
export interface Showcase {
  readonly server: Server
  readonly explorer: ExplorerProcess
  readonly browser: Browser
  /** Opens a path and waits until it is rendered. */
  readonly open: (path: string, look?: Look) => Promise<Watched>
  readonly stop: () => Promise<void>
}

/**
 * @param explorerFlags in addition to those that every explorer needs
 * @param downloaded counts a download of everything first, which takes another start
 */
export async function startShowcase(
  samples: readonly Sample[] = showcase,
  depots: readonly SampleDepot[] = showcaseDepots,
  explorerFlags: readonly string[] = [],
  downloaded = false,
): Promise<Showcase> {
  // If a later program cannot start, the earlier ones are stopped.
  await using starting = new AsyncDisposableStack()
  const registry = new Registry()
  starting.defer(() => registry.remove())
  writeRegistry(registry.manifests, samples, depots)
  if (downloaded) await fillDownloads(registry, samples)
  const server = await startServer(registry)
  starting.defer(async () => void (await server.stop()))
  const explorer = await startExplorer({ serverUrl: server.url, flags: explorerFlags })
  starting.defer(async () => void (await explorer.stop()))
  const browser = await launchBrowser()
  starting.defer(() => browser.close())
  const started = starting.move()
  return {
    server,
    explorer,
    browser,
    open: async (path, look) => {
      const watched = await watch(browser, explorer.url, look)
      await watched.page.goto(path)
      await watched.page.locator('main h1').first().waitFor()
      return watched
    },
    stop: () => started.disposeAsync(),
  }
}
