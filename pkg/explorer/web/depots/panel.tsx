import { useEffect, useRef } from 'preact/hooks'
import type { DepotGraph } from '../api/records.ts'
import { SyncChip } from '../parts/badge.tsx'
import { Fact } from '../parts/fact.tsx'
import { number, plural } from '../parts/format.ts'
import { Hidden, Icon, kindIcon } from '../parts/icon.tsx'
import { SeverityCounts } from '../parts/severity-counts.tsx'
import { resourceHref } from '../url/pages.ts'
import { itemsOf, type Managed } from './managed.ts'

interface Props {
  readonly graph: DepotGraph
  readonly id: string
  readonly onClose: () => void
}

/** What the graph knows of one node. */
export function Panel({ graph, id, onClose }: Props) {
  const panel = useRef<HTMLElement>(null)
  const first = useRef(true)
  useEffect(() => {
    // A link to an open panel leaves the focus where a page begins.
    if (first.current) first.current = false
    panel.current?.scrollTo(0, 0)
  }, [id])
  const depot = graph.depots.find((it) => it.id === id)
  const module = graph.modules.find((it) => it.id === id)
  const provider = graph.providers.find((it) => it.id === id)
  const node = depot ?? module ?? provider
  if (node === undefined) return null
  const kind = depot === undefined ? (module === undefined ? 'provider' : 'module') : 'depot'
  return (
    <section
      ref={panel}
      class="panel"
      aria-labelledby="panel"
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <header>
        <Icon name={kindIcon(kind)} tone="quiet" />
        <h2 id="panel" tabIndex={-1}>
          {node.namespace}/<wbr />
          {node.name}
        </h2>
        <button type="button" class="btn bare small icon" title="Close" onClick={onClose}>
          <Icon name="close" />
          <Hidden>Close</Hidden>
        </button>
      </header>
      {depot !== undefined && <DepotFacts graph={graph} depot={depot} />}
      {module !== undefined && (
        <dl class="facts-list one">
          <Fact words="Latest version">
            {module.latestVersion === undefined ? (
              <span class="quiet">none</span>
            ) : (
              <code>{module.latestVersion}</code>
            )}
          </Fact>
          <Fact words="Status">
            <SyncChip synced={module.synced} />
          </Fact>
          <Fact words="Findings">
            <SeverityCounts counts={module.scanCounts} />
          </Fact>
        </dl>
      )}
      {provider !== undefined && (
        <dl class="facts-list one">
          <Fact words="Status">
            <SyncChip synced={provider.synced} />
          </Fact>
          <Fact words="Namespace">
            <code>{provider.namespace}</code>
          </Fact>
        </dl>
      )}
      {depot === undefined && (
        <div class="actions">
          <a class="btn main" href={resourceHref({ ...node, kind })}>
            Open {kind}
          </a>
        </div>
      )}
    </section>
  )
}

function DepotFacts(props: { graph: DepotGraph; depot: DepotGraph['depots'][number] }) {
  const { graph, depot } = props
  const items = itemsOf(graph).get(depot.id) ?? []
  const minutes = depot.pollingIntervalMinutes
  const unsynced = items.filter(({ synced }) => !synced).length
  return (
    <>
      <dl class="facts-list one">
        <Fact words="Storage">
          {depot.storageBackend === undefined ? (
            <span class="quiet">none named</span>
          ) : (
            <code>{depot.storageBackend}</code>
          )}
        </Fact>
        <Fact words="Polls every">{minutes === 0 ? 'never' : plural(minutes, 'minute')}</Fact>
        <Fact words="Manages">
          {plural(depot.managedModuleNames.length, 'module')},{' '}
          {plural(depot.managedProviderNames.length, 'provider')}
        </Fact>
        {unsynced > 0 && (
          <Fact words="Not synced">
            {number(unsynced)} of {number(items.length)}
          </Fact>
        )}
      </dl>
      {items.length > 0 && (
        <>
          <h3>Manages</h3>
          <ManagedList items={items} />
        </>
      )}
    </>
  )
}

const most = 200

export const ManagedList = ({ items }: { readonly items: readonly Managed[] }) => (
  <ul class="list">
    {items.slice(0, most).map((it) => (
      <li key={it.id}>
        <a href={resourceHref(it)}>
          <Icon name={kindIcon(it.kind)} />
          <span>
            {it.namespace}/<wbr />
            {it.name}
          </span>
          {!it.synced && (
            <>
              <Icon name="wait" tone="c-warn" />
              <Hidden>Not synced</Hidden>
            </>
          )}
        </a>
      </li>
    ))}
    {items.length > most && <li class="quiet">and {number(items.length - most)} more</li>}
  </ul>
)
