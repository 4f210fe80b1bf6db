import { NoMatch, Void } from '../parts/message.tsx'
import type { UrlChange } from '../url/navigate.ts'
import { type DepotsValues, depotsHref } from '../url/pages.ts'
import { Drawing } from './drawing.tsx'
import type { DepotNode, Fleet, FleetHit, FleetNode } from './fleet.ts'
import type { Choosing } from './node.tsx'
import { HealthStrip, Hits, Overview } from './overview.tsx'
import { Panel } from './panel.tsx'

interface Props {
  readonly fleet: Fleet
  /** The depots that match the health filter. */
  readonly depots: readonly DepotNode[]
  readonly values: DepotsValues
  readonly view: 'graph' | 'list'
  readonly hits: readonly FleetHit[]
  /** The hit that a person jumped to. */
  readonly current: FleetNode | undefined
  readonly change: UrlChange<DepotsValues>
}

/** A drawing, an overview or the hits of a search, with the chosen node next to it. */
export function Content(props: Props) {
  const { fleet, values, view, hits, current, change } = props
  const isFinding = values.q !== ''
  const chosen = fleet.nodes.get(values.node)
  const hrefWith = (changed: Partial<DepotsValues>): string => depotsHref({ ...values, ...changed })
  const hrefOf = ({ id }: FleetNode): string => hrefWith({ node: id })
  if (fleet.depots.length === 0) return <NoDepots values={values} />
  const close = (): void => {
    change({ node: '' })
    const opener = document.querySelector<HTMLElement>(`[data-node="${CSS.escape(values.node)}"]`)
    const target = opener ?? document.querySelector<HTMLElement>('main h1')
    target?.focus()
  }
  return (
    <div
      onKeyDown={(event) => {
        if (event.key === 'Escape' && chosen !== undefined) close()
      }}
    >
      {view === 'graph' ? (
        <a class="skip" href={hrefWith({ view: 'list' })}>
          Show the depots as a list
        </a>
      ) : (
        !isFinding && (
          <HealthStrip
            depots={fleet.depots}
            health={values.health}
            hrefOf={(health) => hrefWith({ health })}
          />
        )
      )}
      <div class={chosen === undefined ? 'over bare' : 'over'}>
        <div class="over-main">
          <Main {...props} chosen={chosen} hrefOf={hrefOf} hrefWith={hrefWith} />
        </div>
        {chosen !== undefined && (
          <Panel
            node={chosen}
            typed={values.q}
            current={current}
            hits={isFinding ? new Set(hits.map(({ node }) => node)) : undefined}
            hrefOf={hrefOf}
            onClose={close}
          />
        )}
      </div>
    </div>
  )
}

interface MainProps extends Props, Choosing {
  readonly hrefWith: (changed: Partial<DepotsValues>) => string
}

function Main(props: MainProps) {
  const { depots, values, view, hits, hrefWith, chosen, hrefOf } = props
  const shown = { depots, chosen, hrefOf }
  if (values.q !== '') {
    return <Hits {...shown} hits={hits} typed={values.q} clearHref={hrefWith({ q: '' })} />
  }
  if (depots.length === 0) return <NoMatch clearHref={hrefWith({ health: '' })} />
  if (view === 'graph') return <Drawing {...shown} />
  const troubleHref = hrefWith({ health: 'trouble' })
  return <Overview {...shown} health={values.health} troubleHref={troubleHref} />
}

const NoDepots = ({ values }: { readonly values: DepotsValues }) => (
  <Void words="No depots are visible to you." isPage>
    <p>A depot keeps modules and providers in step with their sources.</p>
    {values.namespace !== '' && (
      <a class="btn" href={depotsHref({ view: values.view })}>
        Show all namespaces
      </a>
    )}
  </Void>
)
