import { number } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { Section } from '../parts/section.tsx'
import type { DepotsValues } from '../url/pages.ts'
import { type DepotNode, type FleetHit, type FleetNode, nameOf, worstFirst } from './fleet.ts'
import {
  type Choosing,
  causeOf,
  NodeLink,
  NodeName,
  stateLooks,
  TroubleIcon,
  unsyncedCount,
} from './node.tsx'

export type Health = DepotsValues['health']

interface HealthProps {
  readonly depots: readonly DepotNode[]
  readonly health: Health
  readonly hrefOf: (health: Health) => string
}

const counted = ['healthy', 'unsynced', 'failing', 'held'] as const

/** How many depots are in each state. Each count is a filter. */
export function HealthStrip({ depots, health, hrefOf }: HealthProps) {
  const inState = Map.groupBy(depots, ({ state }) => state)
  const count = (value: Health, total: number, words: string, icon?: [string, string]) => (
    <li>
      <a href={hrefOf(value)} aria-current={value !== '' && value === health ? 'true' : undefined}>
        {icon !== undefined && <Icon name={icon[0]} tone={icon[1]} />}
        <b>{number(total)}</b> <span>{words}</span>
      </a>
    </li>
  )
  return (
    <section class="health" aria-label="Health counts">
      <ul class="legend">
        {count('', depots.length, depots.length === 1 ? 'depot' : 'depots')}
        {counted.map((state) => {
          const { icon, tone, words } = stateLooks[state]
          const total = inState.get(state)?.length ?? 0
          return (total > 0 || state === 'healthy') && count(state, total, words, [icon, tone])
        })}
      </ul>
    </section>
  )
}

interface Props extends Choosing {
  readonly depots: readonly DepotNode[]
  readonly health: Health
  /** URL of the list of all depots that need attention. */
  readonly troubleHref: string
}

const mostAtFirst = 4

/** The depots that need attention, worst first, then all of them by namespace. */
export function Overview({ depots, chosen, health, hrefOf, troubleHref }: Props) {
  const needy = worstFirst(depots)
  const isAboutTrouble = health !== '' && health !== 'healthy'
  const shown = isAboutTrouble ? needy : needy.slice(0, mostAtFirst)
  return (
    <>
      {needy.length > 0 && (
        <Section look="part" id="needs" words="Needs a look" total={needy.length}>
          <ul class="depot-rows">
            {shown.map((depot) => (
              <li key={depot.id}>
                <NodeLink to={depot} chosen={chosen} hrefOf={hrefOf}>
                  <span>
                    <TroubleIcon of={depot} />
                  </span>
                  <NodeName of={depot} />
                  <span class="why-line">{causeOf(depot)}</span>
                  <span class="quiet num">{depot.unsynced.length > 0 && unsyncedCount(depot)}</span>
                </NodeLink>
              </li>
            ))}
          </ul>
          {shown.length < needy.length && (
            <a class="more-link" href={troubleHref}>
              Show all {number(needy.length)}
            </a>
          )}
        </Section>
      )}
      {!isAboutTrouble && <ByNamespace depots={depots} chosen={chosen} hrefOf={hrefOf} />}
    </>
  )
}

const ByNamespace = ({ depots, chosen, hrefOf }: Pick<Props, 'depots' | 'chosen' | 'hrefOf'>) => (
  <Section
    look="part"
    id="all"
    words="All depots"
    total={depots.length}
    about="Number of modules and providers each"
  >
    {[...Map.groupBy(depots, ({ namespace }) => namespace)].map(([namespace, own]) => (
      <section key={namespace} class="of-namespace" aria-labelledby={`ns-${namespace}`}>
        <h3 id={`ns-${namespace}`}>
          <span class="mono">{namespace}</span> <span class="quiet num">{number(own.length)}</span>
        </h3>
        <ul class="cells">
          {own.map((depot) => (
            <li key={depot.id}>
              <NodeLink to={depot} chosen={chosen} hrefOf={hrefOf}>
                <span class="mono">{depot.name}</span>
                <TroubleIcon of={depot} />
                <span class="quiet num">{number(depot.items.length)}</span>
              </NodeLink>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </Section>
)

interface HitsProps extends Choosing {
  readonly depots: readonly DepotNode[]
  readonly hits: readonly FleetHit[]
  readonly typed: string
  readonly clearHref: string
}

const mostNames = 3

/** The depots with hits, and the names that matched. */
export function Hits({ depots, hits, typed, chosen, hrefOf, clearHref }: HitsProps) {
  const byDepot = Map.groupBy(hits, ({ depot }) => depot)
  const without = depots.length - byDepot.size
  return (
    <Section look="part" id="found" words="Depots with hits" total={byDepot.size}>
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
    </Section>
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
