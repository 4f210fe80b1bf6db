import { depotGraph } from './depot-graph.ts'
import { depots } from './depots.ts'
import { downloadHistory } from './download-history.ts'
import type { BrowseEndpoint, DescribedEndpoint } from './endpoint.ts'
import { namespaces } from './namespaces.ts'
import { resource } from './resource.ts'
import { resources } from './resources.ts'
import { scanFindings } from './scan-findings.ts'
import { stats } from './stats.ts'
import { versions } from './versions.ts'

/** Where the browse API begins. */
export const prefix = '/depot/ui/v1'

/** All that is answered from memory. */
export const endpoints: readonly BrowseEndpoint[] = [
  namespaces,
  resources,
  resource,
  versions,
  scanFindings,
  depots,
  depotGraph,
  stats,
]

/** All that callers can ask. */
export const described: readonly DescribedEndpoint[] = [...endpoints, downloadHistory]
