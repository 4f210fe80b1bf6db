import { fitted, widthOf } from './label.ts'
import type { Box, Layout } from './layout.ts'
import type { Palette } from './palette.ts'

/** Which part of the drawing is seen: a point at zoom 1 is drawn at `point * zoom + offset`. */
export interface View {
  readonly x: number
  readonly y: number
  readonly zoom: number
}

export interface Scene {
  readonly layout: Layout
  readonly selected: string | undefined
  /** Where the keyboard is, while the canvas has the focus. */
  readonly cursor: string | undefined
  /** Ids that the search found; undefined while nothing is searched. */
  readonly found: ReadonlySet<string> | undefined
  /** While it moves, lines are straight. */
  readonly moving: boolean
}

const labelsFrom = 0.35
/** More lines than this are straight, which is four times as quick: 5,000 curves take longer than a frame may. */
const mostCurves = 1000
const noteWidth = 90
const icons: Readonly<Record<Box['kind'], string>> = {
  depot: 'M1.75 6.25 8 2.25l6.25 4v7.5H1.75z M4.75 13.75v-5h6.5v5 M4.75 11.25h6.5',
  module: 'M2.25 5.25h11.5v8.5H2.25z M2.25 5.25 4 2.25h8l1.75 3 M6.25 8.25h3.5',
  provider: 'M4.25 6.25h7.5v3a3.75 3.75 0 0 1-7.5 0z M6 6.25v-4 M10 6.25v-4 M8 13v1.75',
}
const shapes = new Map<string, Path2D>()
const waitShape = 'M13.75 8a5.75 5.75 0 1 1-11.5 0a5.75 5.75 0 1 1 11.5 0z M8 5v3.25l2 1.5'
const mono = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'
const sans = 'system-ui, sans-serif'

function shapeOf(path: string): Path2D {
  const known = shapes.get(path)
  if (known !== undefined) return known
  const shape = new Path2D(path)
  shapes.set(path, shape)
  return shape
}

export function draw(
  context: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  palette: Palette,
  pixelRatio: number,
): void {
  const { width, height } = context.canvas
  const zoom = view.zoom * pixelRatio
  context.setTransform(1, 0, 0, 1, 0, 0)
  context.clearRect(0, 0, width, height)
  context.setTransform(zoom, 0, 0, zoom, view.x * pixelRatio, view.y * pixelRatio)
  const window = {
    left: -view.x / view.zoom,
    top: -view.y / view.zoom,
    right: (width / pixelRatio - view.x) / view.zoom,
    bottom: (height / pixelRatio - view.y) / view.zoom,
  }
  drawEdges(context, scene, palette, window)
  const near = nearOf(scene)
  for (const box of scene.layout.boxes) {
    if (isOutside(window, box.x, box.y, box.x + box.width, box.y + box.height)) continue
    drawBox(context, box, scene, palette, view.zoom, near)
  }
}

const nearOf = ({ layout, selected }: Scene): ReadonlySet<string> =>
  new Set(selected === undefined ? [] : layout.byId.get(selected)?.neighbours)

/** The part of the drawing that is seen, in its own pixels. */
interface Window {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const isOutside = (
  { left, top, right, bottom }: Window,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
): boolean => x1 > right || x2 < left || y1 > bottom || y2 < top

function drawEdges(
  context: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  window: Window,
): void {
  const { layout, selected, moving } = scene
  const seen = layout.edges.filter((edge) => !isEdgeOutside(window, edge))
  const straight = moving || seen.length > mostCurves
  const isOn = ([from, to]: Edge): boolean => from.id === selected || to.id === selected
  context.beginPath()
  for (const edge of seen) if (!isOn(edge)) trace(context, edge, straight)
  context.lineWidth = 0.75
  context.globalAlpha = layout.edges.length > 500 ? 0.5 : 1
  context.strokeStyle = palette.lineControl
  context.stroke()
  context.globalAlpha = 1
  if (selected === undefined) return
  context.beginPath()
  for (const edge of seen) if (isOn(edge)) trace(context, edge, straight)
  context.lineWidth = 2
  context.strokeStyle = palette.accent
  context.stroke()
}

type Edge = Layout['edges'][number]

const middleOf = ({ y, height }: Box): number => y + height / 2

function isEdgeOutside(window: Window, [from, to]: Edge): boolean {
  const [y1, y2] = [middleOf(from), middleOf(to)]
  return isOutside(window, from.x + from.width, Math.min(y1, y2), to.x, Math.max(y1, y2))
}

function trace(context: CanvasRenderingContext2D, [from, to]: Edge, straight: boolean): void {
  const x1 = from.x + from.width
  const y1 = middleOf(from)
  const x2 = to.x
  const y2 = middleOf(to)
  context.moveTo(x1, y1)
  if (straight) context.lineTo(x2, y2)
  else context.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2)
}

function drawBox(
  context: CanvasRenderingContext2D,
  box: Box,
  { selected, cursor, found }: Scene,
  palette: Palette,
  zoom: number,
  near: ReadonlySet<string>,
): void {
  const isDepot = box.kind === 'depot'
  const isSelected = box.id === selected
  const isFar =
    found === undefined
      ? selected !== undefined && !isSelected && !near.has(box.id)
      : !found.has(box.id)
  context.beginPath()
  context.roundRect(box.x, box.y, box.width, box.height, 5)
  context.fillStyle = isSelected ? palette.accentSoft : isDepot ? palette.sunken : palette.surface
  context.fill()
  context.strokeStyle =
    isSelected || near.has(box.id) || found?.has(box.id) === true
      ? palette.accent
      : palette.lineControl
  context.lineWidth = isSelected ? 2 : 1
  context.stroke()
  if (box.id === cursor) drawFocus(context, box, palette)
  if (zoom < labelsFrom) return
  drawLabel(context, box, isFar && !isDepot ? palette.text2 : palette.text, palette)
}

function drawFocus(context: CanvasRenderingContext2D, box: Box, palette: Palette): void {
  context.beginPath()
  context.roundRect(box.x - 4, box.y - 4, box.width + 8, box.height + 8, 7)
  context.strokeStyle = palette.accent
  context.lineWidth = 2
  context.stroke()
}

function drawLabel(
  context: CanvasRenderingContext2D,
  box: Box,
  ink: string,
  palette: Palette,
): void {
  const isDepot = box.kind === 'depot'
  const middle = box.y + box.height / 2
  drawIcon(context, icons[box.kind], box.x + 10, middle - 8, palette.text2)
  const end = box.x + box.width - 10 - (box.synced ? 0 : 22)
  context.textBaseline = 'middle'
  context.fillStyle = palette.text2
  context.font = `11px ${sans}`
  let room = end - box.x - 34
  if (isDepot) context.fillText(box.note, box.x + 35, middle + 10, room)
  else if (box.note !== '') {
    context.textAlign = 'right'
    context.fillText(box.note, end, middle, noteWidth)
    context.textAlign = 'left'
    room -= Math.min(widthOf(context, box.note), noteWidth) + 8
  }
  context.fillStyle = ink
  context.font = `${isDepot ? 600 : 400} 12px ${mono}`
  const words = fitted(box.words, room / widthOf(context, 'm'))
  context.fillText(words, box.x + 34, isDepot ? middle - 8 : middle, room)
  if (!box.synced) drawIcon(context, waitShape, end + 6, middle - 8, palette.warn)
}

function drawIcon(
  context: CanvasRenderingContext2D,
  path: string,
  x: number,
  y: number,
  ink: string,
): void {
  context.save()
  context.translate(x, y)
  context.strokeStyle = ink
  context.lineWidth = 1.5
  context.lineCap = 'round'
  context.lineJoin = 'round'
  context.stroke(shapeOf(path))
  context.restore()
}
