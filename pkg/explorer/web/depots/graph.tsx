import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { DepotGraph } from '../api/records.ts'
import { announce } from '../parts/announce.ts'
import { plural } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { foldedIn, managersOf } from './folded.ts'
import { layOut } from './layout.ts'
import { Stage } from './stage.ts'
import { step } from './walk.ts'

interface Props {
  readonly graph: DepotGraph
  readonly selected: string
  readonly found: ReadonlySet<string> | undefined
  readonly onSelect: (id: string) => void
}

export function Graph({ graph, selected, found, onSelect }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const stage = useRef<Stage>(undefined)
  const pick = useRef(onSelect)
  pick.current = onSelect
  const [cursor, setCursor] = useState<string | undefined>()
  // A link to a node of a large graph shows that node.
  const [opened, setOpened] = useState<ReadonlySet<string>>(
    () => new Set(managersOf(graph, new Set([selected]))),
  )
  const folded = useMemo(() => foldedIn(graph, opened), [graph, opened])
  const layout = useMemo(() => layOut(graph, folded), [graph, folded])
  const lit = useMemo(() => found && withFolded(graph, folded, found), [graph, folded, found])

  useEffect(() => {
    if (canvas.current === null) return undefined
    const made = new Stage(canvas.current, layout, {
      onPick: (id) => {
        setCursor(id)
        pick.current(id ?? '')
      },
    })
    stage.current = made
    return () => made.close()
  }, [])
  useEffect(() => {
    stage.current?.show({
      layout,
      selected: selected === '' ? undefined : selected,
      cursor,
      found: lit,
    })
  }, [layout, selected, cursor, lit])

  const open = (ids: Iterable<string>): void => setOpened(new Set([...opened, ...ids]))
  const walk = (key: string): void => {
    const box = step(layout, cursor ?? (selected === '' ? undefined : selected), key)
    if (box === undefined) return
    setCursor(box.id)
    stage.current?.reveal(box)
    announce(`${box.kind} ${box.words}${box.synced ? '' : ', not synced'}`)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End')
      walk(event.key)
    else if (event.key === 'Enter' && cursor !== undefined) onSelect(cursor)
    else if (event.key === 'Escape' && selected !== '') onSelect('')
    else if (event.key === '+' || event.key === '=') stage.current?.zoomBy(1.25)
    else if (event.key === '-') stage.current?.zoomBy(0.8)
    else if (event.key === '0') stage.current?.fit()
    else return
    event.preventDefault()
  }
  const { depots, modules, providers } = graph
  const words = `Graph: ${depots.length} depots on the left, the ${modules.length + providers.length} modules and providers that they manage on the right. Arrows walk, Enter opens. The list view holds the same.`
  return (
    <div class="canvas">
      <canvas
        ref={canvas}
        id="graph"
        class="graph"
        tabIndex={0}
        role="application"
        aria-label={words}
        onKeyDown={onKey}
        onFocus={() => setCursor((it) => it ?? (selected || layout.boxes[0]?.id))}
        onBlur={() => setCursor(undefined)}
      />
      <div class="zoom group" role="group" aria-label="Zoom">
        <ZoomButton icon="minus" words="Zoom out" onPress={() => stage.current?.zoomBy(0.8)} />
        <ZoomButton icon="fit" words="Fit" onPress={() => stage.current?.fit()} />
        <ZoomButton icon="plus" words="Zoom in" onPress={() => stage.current?.zoomBy(1.25)} />
      </div>
      {folded.size > 0 && (
        <p class="hint">
          {plural(folded.size, 'depot is', 'depots are')} folded.{' '}
          <button type="button" class="btn small" onClick={() => open(folded)}>
            Unfold all
          </button>{' '}
          {folded.has(selected) && (
            <button type="button" class="btn small" onClick={() => open([selected])}>
              Unfold the selected one
            </button>
          )}
        </p>
      )}
    </div>
  )
}

/** What was found, and the folded depots that manage some of it. */
function withFolded(
  graph: DepotGraph,
  folded: ReadonlySet<string>,
  found: ReadonlySet<string>,
): ReadonlySet<string> {
  if (folded.size === 0) return found
  return new Set([...found, ...managersOf(graph, found).filter((id) => folded.has(id))])
}

const ZoomButton = (props: { icon: string; words: string; onPress: () => void }) => (
  <button type="button" class="btn icon" title={props.words} onClick={props.onPress}>
    <Icon name={props.icon} />
    <Hidden>{props.words}</Hidden>
  </button>
)
