import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, kindIcon } from '../parts/icon.tsx'
import { type DepotNode, type FleetNode, groupsOf, nameOf, type ResourceNode } from './fleet.ts'
import { type Choosing, depotNote, NodeLink, NodeName, SyncSlot, TroubleIcon } from './node.tsx'
import { DepotFacts } from './panel.tsx'

interface Props extends Choosing {
  readonly depots: readonly DepotNode[]
}

/** Depots on the left, their resources on the right, and a line from each depot to the resources that it manages. */
export function Drawing({ depots, chosen, hrefOf }: Props) {
  const root = useRef<HTMLDivElement>(null)
  const lines = useLines(root, depots)
  const isSolo = depots.length === 1
  const box = (node: FleetNode) => (
    <NodeLink to={node} class={`box ${node.kind}`} chosen={chosen} hrefOf={hrefOf}>
      <Icon name={kindIcon(node.kind)} />
      <NodeName of={node} />
      {node.kind === 'depot' ? (
        <>
          <TroubleIcon of={node} />
          <span class="quiet note-line">{depotNote(node)}</span>
        </>
      ) : (
        <>
          <code class="quiet">{node.latestVersion}</code>
          <SyncSlot synced={node.synced} />
        </>
      )}
    </NodeLink>
  )
  return (
    <div
      ref={root}
      class={isSolo ? 'drawing solo' : 'drawing'}
      onKeyDown={(event) => {
        if (moveFocus(event.currentTarget, depots, event.key)) event.preventDefault()
      }}
    >
      <svg class="lines" aria-hidden="true">
        {lines.map(({ from, to, path }) => (
          <path
            key={`${from.id} ${to.id}`}
            class={from === chosen || to === chosen ? 'on' : undefined}
            d={path}
          />
        ))}
      </svg>
      <ul aria-label="Depots">
        {groupsOf(depots).map(([depot, resources]) => (
          <li key={depot.id}>
            <div class={isSolo ? 'depot-card' : undefined}>
              {box(depot)}
              {isSolo && <DepotFacts depot={depot} />}
            </div>
            <ul aria-label={`Managed by ${nameOf(depot)}`}>
              {resources.map((resource) => (
                <li key={resource.id}>{box(resource)}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface Line {
  readonly from: DepotNode
  readonly to: ResourceNode
  readonly path: string
}

/** Lines are measured after each layout, because names may wrap and change the height of their boxes. */
function useLines(
  root: { readonly current: HTMLElement | null },
  depots: readonly DepotNode[],
): Line[] {
  const [lines, setLines] = useState<Line[]>([])
  useLayoutEffect(() => {
    const { current } = root
    if (current === null) return undefined
    const observer = new ResizeObserver(() => setLines(linesIn(current, depots)))
    observer.observe(current)
    setLines(linesIn(current, depots))
    return () => observer.disconnect()
  }, [depots])
  return lines
}

function linesIn(root: HTMLElement, depots: readonly DepotNode[]): Line[] {
  const { left, top } = root.getBoundingClientRect()
  const boxes = new Map(boxesIn(root).map((box) => [box.dataset['node'], box]))
  return depots.flatMap((from) => {
    const start = boxes.get(from.id)?.parentElement?.getBoundingClientRect() ?? new DOMRect()
    const [x1, y1] = [start.right - left, start.top + start.height / 2 - top]
    return from.items.map((to) => {
      const end = boxes.get(to.id)?.getBoundingClientRect() ?? new DOMRect()
      const [x2, y2] = [end.left - left, end.top + end.height / 2 - top]
      const middle = (x1 + x2) / 2
      return { from, to, path: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` }
    })
  })
}

const boxesIn = (root: HTMLElement): HTMLElement[] => [
  ...root.querySelectorAll<HTMLElement>('.box'),
]

/** Up and down move within depots or resources, right to a depot's first resource, left to a resource's first depot. */
function moveFocus(root: HTMLElement, depots: readonly DepotNode[], key: string): boolean {
  const boxes = boxesIn(root)
  const focused = boxes.find((box) => box === document.activeElement)
  if (focused === undefined) return false
  const isDepot = focused.classList.contains('depot')
  const column = boxes.filter((box) => box.classList.contains('depot') === isDepot)
  const id = focused.dataset['node']
  const near = isDepot
    ? depots.find((depot) => depot.id === id)?.items
    : depots.filter(({ items }) => items.some((item) => item.id === id))
  const beside = (): HTMLElement | undefined =>
    boxes.find((box) => near?.some((node) => node.id === box.dataset['node']))
  const targets: Readonly<Record<string, () => HTMLElement | undefined>> = {
    ArrowUp: () => column[column.indexOf(focused) - 1],
    ArrowDown: () => column[column.indexOf(focused) + 1],
    ArrowRight: () => (isDepot ? beside() : undefined),
    ArrowLeft: () => (isDepot ? undefined : beside()),
    Home: () => boxes[0],
    End: () => boxes.at(-1),
  }
  const target = targets[key]
  target?.()?.focus()
  return target !== undefined
}
