import { number } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { type DepotNode, type FleetHit, type FleetNode, nameOf } from './fleet.ts'
import { type Choosing, ListPart, NodeLink, NodeName } from './node.tsx'

interface Props extends Choosing {
  readonly depots: readonly DepotNode[]
  readonly hits: readonly FleetHit[]
  readonly typed: string
  readonly clearHref: string
}

const mostNames = 3

/** The depots with hits, and the names that matched. */
export function Hits({ depots, hits, typed, chosen, hrefOf, clearHref }: Props) {
  const byDepot = Map.groupBy(hits, ({ depot }) => depot)
  const without = depots.length - byDepot.size
  return (
    <ListPart id="found" words="Depots with hits" count={byDepot.size}>
      {hits.length === 0 ? (
        <p class="void">Nothing matches these filters.</p>
      ) : (
        <ul class="depot-rows">
          {[...byDepot].map(([depot, own]) => (
            <li key={depot.id}>
              <NodeLink to={depot} chosen={chosen} hrefOf={hrefOf}>
                <Icon name="depot" />
                <NodeName of={depot} typed={typed} />
                <span class="why-line mono">
                  <MatchedNames nodes={own.map(({ node }) => node)} of={depot} typed={typed} />
                </span>
                <span class="hits-count">{number(own.length)}</span>
              </NodeLink>
            </li>
          ))}
        </ul>
      )}
      {without > 0 && (
        <p class="quiet more-link">
          {without === 1 ? '1 depot has' : `${number(without)} depots have`} no hit.{' '}
          <a href={clearHref}>Clear</a>
        </p>
      )}
    </ListPart>
  )
}

interface NamesProps {
  readonly nodes: readonly FleetNode[]
  readonly of: DepotNode
  readonly typed: string
}

function MatchedNames({ nodes, of, typed }: NamesProps) {
  const resources = nodes.filter((node) => node !== of)
  const more = resources.length - mostNames
  return (
    <>
      {resources.slice(0, mostNames).map((node, at) => (
        <span key={node.id}>
          {at > 0 && ', '}
          <Marked words={nameOf(node)} typed={typed} />
        </span>
      ))}
      {more > 0 && ` and ${number(more)} more`}
    </>
  )
}
