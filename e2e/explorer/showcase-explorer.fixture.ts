import type { Browser } from 'playwright-core'
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

/** A server of a registry, an explorer before it, and a browser. */
export interface Showcase {
  readonly server: Server
  readonly explorer: ExplorerProcess
  readonly browser: Browser
  /** Opens a path and waits until it is drawn. */
  readonly open: (path: string, look?: Look) => Promise<Watched>
  readonly stop: () => Promise<void>
}

export async function startShowcase(
  samples: readonly Sample[] = showcase,
  depots: readonly SampleDepot[] = showcaseDepots,
): Promise<Showcase> {
  const registry = new Registry()
  writeRegistry(registry.manifests, samples, depots)
  const server = await startServer(registry)
  const explorer = await startExplorer({ serverUrl: server.url })
  const browser = await launchBrowser()
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
    stop: async () => {
      await browser.close()
      await explorer.stop()
      await server.stop()
      registry.remove()
    },
  }
}
