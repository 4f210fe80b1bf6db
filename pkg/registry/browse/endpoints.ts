import { conflicts } from './conflicts.ts'
import { consumers } from './consumers.ts'
import { depotGraph } from './depot-graph.ts'
import { depots } from './depots.ts'
import { downloadHistory } from './download-history.ts'
import type { BrowseEndpoint } from './endpoint.ts'
import { explain } from './explain.ts'
import { feed } from './feed.ts'
import { heldBack } from './held-back.ts'
import { moduleComparison } from './module-comparison.ts'
import { moduleDocs } from './module-docs.ts'
import { namespaces } from './namespaces.ts'
import { providerPage, providerPages } from './provider-pages.ts'
import { resource } from './resource.ts'
import { resources } from './resources.ts'
import { scanFindings } from './scan-findings.ts'
import { search } from './search.ts'
import { stats } from './stats.ts'
import { versionFindings } from './version-findings.ts'
import { versions } from './versions.ts'

/** The path of the browse API. */
export const prefix = '/depot/ui/v1'

/** All endpoints, in the order of the document. */
export const endpoints: readonly BrowseEndpoint[] = [
  namespaces,
  resources,
  search,
  resource,
  versions,
  scanFindings,
  versionFindings,
  depots,
  depotGraph,
  stats,
  conflicts,
  heldBack,
  explain,
  downloadHistory,
  consumers,
  moduleDocs,
  moduleComparison,
  providerPages,
  providerPage,
  feed,
]
