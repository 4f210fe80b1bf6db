import { useEffect, useRef, useState } from 'preact/hooks'
import { SyncChip } from '../parts/badge.tsx'
import { CodeFact, Fact } from '../parts/fact.tsx'
import { number, plural } from '../parts/format.ts'
import { Icon, IconButton, kindIcon } from '../parts/icon.tsx'
import { useMore } from '../parts/more.tsx'
import { SeverityCounts } from '../parts/severity-counts.tsx'
import { resourceHref } from '../url/pages.ts'
import { type DepotNode, type FleetNode, isHealthy, nameOf, type ResourceNode } from './fleet.ts'
import { type Choosing, causeOf, NodeLink, NodeName, SyncSlot, unsyncedCount } from './node.tsx'

interface Props {
  readonly node: FleetNode
  /** The search text, marked in the list. */
  readonly typed: string
  /** The hit that was jumped to. */
  readonly current: FleetNode | undefined
  readonly hits: ReadonlySet<FleetNode> | undefined
  readonly hrefOf: Choosing['hrefOf']
  readonly onClose: () => void
}

/** Details of the chosen depot, module or provider. */
export function Panel({ node, typed, current, hits, hrefOf, onClose }: Props) {
  const panel = useRef<HTMLElement>(null)
  const first = useRef(true)
  useEffect(() => {
    panel.current?.scrollTo(0, 0)
    // A page that opens with a panel stays at its top.
    if (!first.current) panel.current?.scrollIntoView({ block: 'nearest' })
    first.current = false
  }, [node.id])
  return (
    <section ref={panel} class="panel" aria-labelledby="panel" tabIndex={0}>
      <header>
        <Icon name={kindIcon(node.kind)} tone="quiet" />
        <h2 id="panel" tabIndex={-1}>
          <NodeName of={node} />
        </h2>
        <IconButton icon="close" words="Close" look="bare small" onClick={onClose} />
      </header>
      {node.kind === 'depot' ? (
        <>
          <DepotFacts depot={node} />
          <Managed
            key={`${node.id} ${typed}`}
            depot={node}
            typed={typed}
            current={current}
            hits={hits}
            hrefOf={hrefOf}
          />
        </>
      ) : (
        <ResourceFacts resource={node} hrefOf={hrefOf} />
      )}
    </section>
  )
}

export const DepotFacts = ({ depot }: { readonly depot: DepotNode }) => (
  <dl class="facts-list one">
    <CodeFact words="Storage" code={depot.storageBackend} none="none named" />
    <Fact words="Polls every">
      {depot.pollingIntervalMinutes === 0
        ? 'never'
        : plural(depot.pollingIntervalMinutes, 'minute')}
    </Fact>
    <Fact words="Manages">
      {plural(depot.managedModuleNames.length, 'module')},{' '}
      {plural(depot.managedProviderNames.length, 'provider')}
    </Fact>
    {depot.unsynced.length > 0 && <Fact words="Not synced">{unsyncedCount(depot)}</Fact>}
    {!isHealthy(depot) && (
      <>
        <Fact words="State">{causeOf(depot)}</Fact>
        <CodeFact words="Find out why" code={`depot why ${nameOf(depot)}`} />
      </>
    )}
  </dl>
)

interface FactsProps extends Pick<Props, 'hrefOf'> {
  readonly resource: ResourceNode
}

function ResourceFacts({ resource, hrefOf }: FactsProps) {
  const isModule = resource.kind === 'module'
  return (
    <>
      <dl class="facts-list one">
        {isModule && <CodeFact words="Latest version" code={resource.latestVersion} />}
        <Fact words="Status">
          <SyncChip synced={resource.synced} />
        </Fact>
        {resource.removalHeld === true && (
          <Fact words="Removal">Versions stay until somebody confirms their removal</Fact>
        )}
        {isModule ? (
          <Fact words="Findings">
            <SeverityCounts counts={resource.scanCounts} />
          </Fact>
        ) : (
          <CodeFact words="Namespace" code={resource.namespace} />
        )}
      </dl>
      <div class="actions">
        <a class="btn main" href={resourceHref(resource)}>
          Open {resource.kind}
        </a>
      </div>
      <h3>Managed by</h3>
      <NodeList nodes={resource.managers} hrefOf={hrefOf} />
    </>
  )
}

interface ManagedProps extends Omit<Props, 'node' | 'onClose'> {
  readonly depot: DepotNode
}

function Managed({ depot, typed, current, hits, hrefOf }: ManagedProps) {
  const [showsAll, setShowsAll] = useState(false)
  const { items } = depot
  const found = hits && items.filter((item) => hits.has(item))
  const listed = showsAll || found === undefined || found.length === 0 ? items : found
  if (items.length === 0) return null
  return (
    <>
      <h3>
        {listed === items ? 'Manages' : `${number(listed.length)} of ${number(items.length)} match`}
      </h3>
      <NodeList nodes={listed} typed={typed} current={current} hrefOf={hrefOf} />
      {listed !== items && (
        <button type="button" class="btn small" onClick={() => setShowsAll(true)}>
          Show all {number(items.length)}
        </button>
      )}
    </>
  )
}

interface ListProps {
  readonly nodes: readonly FleetNode[]
  readonly typed?: string
  readonly current?: FleetNode | undefined
  readonly hrefOf: Choosing['hrefOf']
}

function NodeList({ nodes, typed = '', current, hrefOf }: ListProps) {
  const list = useRef<HTMLUListElement>(null)
  const at = current === undefined ? -1 : nodes.indexOf(current)
  const { shown, more } = useMore(nodes, { first: 100, step: 100, least: at + 1, look: 'small' })
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <>
      <ul class="list" ref={list}>
        {shown.map((node) => (
          <li key={node.id}>
            <NodeLink to={node} chosen={current} hrefOf={hrefOf}>
              <Icon name={kindIcon(node.kind)} />
              <NodeName of={node} typed={typed} />
              {node.kind !== 'depot' && (
                <>
                  <code class="quiet">{node.latestVersion}</code>
                  <SyncSlot synced={node.synced} />
                </>
              )}
            </NodeLink>
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}
