import { DepotGraph } from '../../api/browse/browse.ts'
import type { Listed, ShownDepot } from '../catalog/catalog.ts'
import { depotQuery, managedNames } from './depots.ts'
import { endpoint } from './endpoint.ts'
import { nameOfKind, noParameters } from './parameters.ts'

export const depotGraph = endpoint({
  route: '/depots/graph',
  operationId: 'getDepotGraph',
  summary: 'Graph of Depots and what they manage',
  description: 'The Depots that the caller may see, and the visible resources that they manage.',
  path: noParameters,
  query: depotQuery,
  response: DepotGraph,
  example: {
    depots: [
      {
        id: 'platform/main',
        namespace: 'platform',
        name: 'main',
        storageBackend: 's3',
        pollingIntervalMinutes: 60,
        managedModuleNames: ['network'],
        managedProviderNames: [],
        ready: true,
      },
    ],
    modules: [
      {
        id: 'platform/module/network',
        namespace: 'platform',
        name: 'network',
        provider: 'aws',
        synced: true,
        latestVersion: '2.0.0',
        depotID: 'platform/main',
      },
    ],
    providers: [],
    edges: [
      {
        id: 'platform/main->platform/module/network',
        source: 'platform/main',
        target: 'platform/module/network',
      },
    ],
    summary: { totalDepots: 1, totalModules: 1, totalProviders: 0 },
    generatedAt: '2026-01-31T12:00:00.000Z',
  },
  answer({ catalog: { model }, view, query, firstSeen }) {
    const parts = graphParts(model.depots(view, query.namespace))
    const generatedAt = firstSeen.at(view, query.namespace ?? '', parts)
    const body = `{${parts},"generatedAt":${JSON.stringify(generatedAt)}}`
    return { body, revision: () => model.graphRevision }
  },
})

/** The graph without the time. Its JSON is joined from pieces of text, because there may be 20,000 of them. */
function graphParts(depots: readonly ShownDepot[]): string {
  const firstDepot = new Map<Listed, string>()
  const edges: string[] = []
  const nodes = depots.map((depot) => {
    const source = inner(`${depot.namespace}/${depot.name}`)
    for (const entry of depot.managed) {
      const target = idOf(entry)
      if (!firstDepot.has(entry)) firstDepot.set(entry, source)
      edges.push(`{"id":"${source}->${target}","source":"${source}","target":"${target}"}`)
    }
    return JSON.stringify({
      id: `${depot.namespace}/${depot.name}`,
      namespace: depot.namespace,
      name: depot.name,
      storageBackend: depot.storageBackend,
      pollingIntervalMinutes: depot.pollingIntervalMinutes,
      managedModuleNames: managedNames(depot, 'Module'),
      managedProviderNames: managedNames(depot, 'Provider'),
      ...stateOf(depot),
    })
  })
  const modules: string[] = []
  const providers: string[] = []
  for (const [entry, depot] of firstDepot) {
    const node = entry.memo('node', nodeOf)
    if (entry.summary.kind === 'Provider') providers.push(`${node}}`)
    else modules.push(`${node},"depotID":"${depot}"}`)
  }
  const summary = {
    totalDepots: depots.length,
    totalModules: modules.length,
    totalProviders: providers.length,
  }
  return `"depots":[${nodes.join()}],"modules":[${modules.join()}],"providers":[${providers.join()}],"edges":[${edges.join()}],"summary":${JSON.stringify(summary)}`
}

/** Returns only the reason, because the message of the condition may name what the caller may not see. */
function stateOf({ ready }: ShownDepot): { ready?: boolean; reason?: string } {
  if (ready === undefined || ready.status === 'Unknown') return {}
  return ready.status === 'True' ? { ready: true } : { ready: false, reason: ready.reason }
}

/** The JSON of a node without its closing brace. */
function nodeOf(entry: Listed): string {
  const { kind, namespace, name, resource, latestVersion, scanCounts, synced } = entry.summary
  const module = kind === 'Module' && { provider: resource.system, latestVersion, scanCounts }
  const held = resource.removalHeld && { removalHeld: true }
  const rest = JSON.stringify({ namespace, name, synced, ...module, ...held })
  return `{"id":"${idOf(entry)}",${rest.slice(1, -1)}`
}

/** The name as JSON writes it, without the quotes. */
function idOf(entry: Listed): string {
  const { kind, namespace, name } = entry.summary
  return entry.memo('id', () => inner(`${namespace}/${nameOfKind[kind]}/${name}`))
}

function inner(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
