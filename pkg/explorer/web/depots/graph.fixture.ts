import type { DepotGraph } from '../api/records.ts'

const depot = (name: string, modules: string[]): DepotGraph['depots'][number] => ({
  id: `a/${name}`,
  namespace: 'a',
  name,
  pollingIntervalMinutes: 60,
  managedModuleNames: modules,
  managedProviderNames: [],
})

/**
 * A graph of depots with the names of the modules that each manages, all in the namespace `a`.
 *
 * @param unsynced names of the modules that are not in sync
 */
export function graphOf(
  managed: Readonly<Record<string, string[]>>,
  unsynced: readonly string[] = [],
): DepotGraph {
  const names = [...new Set(Object.values(managed).flat())]
  return {
    depots: Object.entries(managed).map(([name, modules]) => depot(name, modules)),
    modules: names.map((name) => ({
      id: `a/module/${name}`,
      namespace: 'a',
      name,
      synced: !unsynced.includes(name),
      depotID: '',
    })),
    providers: [],
    edges: Object.entries(managed).flatMap(([name, modules]) =>
      modules.map((target) => ({
        id: `${name}-${target}`,
        source: `a/${name}`,
        target: `a/module/${target}`,
      })),
    ),
    summary: { totalDepots: 0, totalModules: 0, totalProviders: 0 },
    generatedAt: '2026-01-01T00:00:00Z',
  }
}
