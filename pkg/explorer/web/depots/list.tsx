import type { DepotGraph } from '../api/records.ts'
import { Icon } from '../parts/icon.tsx'
import { depotNote } from './layout.ts'
import { itemsOf, type Managed } from './managed.ts'
import { ManagedList } from './panel.tsx'

interface Props {
  readonly graph: DepotGraph
  readonly selected: string
  readonly found: ReadonlySet<string> | undefined
}

/** The same as the graph, to be read line by line. */
export function DepotTree({ graph, selected, found }: Props) {
  const items = itemsOf(graph)
  const shown = graph.depots.flatMap((depot) => {
    const all = items.get(depot.id) ?? []
    if (found === undefined || found.has(depot.id)) return [{ depot, all }]
    const some = all.filter(({ id }) => found.has(id))
    return some.length === 0 ? [] : [{ depot, all: some }]
  })
  if (shown.length === 0) return <p class="void">Nothing matches these filters.</p>
  return (
    <ul class="tree" aria-label="Depots">
      {shown.map(({ depot, all }) => (
        <li key={depot.id}>
          <details
            open={found !== undefined || shown.length <= 3 || isOpen(depot.id, all, selected)}
          >
            <summary>
              <Icon name="right" />
              <Icon name="depot" tone="quiet" />
              <span>
                {depot.namespace}/<wbr />
                {depot.name}
              </span>
              <span class="quiet">
                {depotNote(depot)}, manages{'\u00a0'}
                {depot.managedModuleNames.length + depot.managedProviderNames.length}
              </span>
            </summary>
            <ManagedList items={all} />
          </details>
        </li>
      ))}
    </ul>
  )
}

const isOpen = (depot: string, items: readonly Managed[], selected: string): boolean =>
  selected !== '' && (depot === selected || items.some(({ id }) => id === selected))
