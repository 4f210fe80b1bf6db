import { themeEvent } from '../shell/theme.ts'
import { draw, type Scene, type View } from './draw.ts'
import type { Box, Layout } from './layout.ts'
import { type Palette, readPalette } from './palette.ts'

const least = 0.05
const most = 2.5
const settleMs = 120
const margin = 24

export interface StageEvents {
  /** Undefined for a click beside all boxes. */
  readonly onPick: (id: string | undefined) => void
}

/** One canvas, and what moves it: drag, wheel, pinch. Draws at most once a frame, and only when something changed. */
export class Stage {
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D
  readonly #events: StageEvents
  readonly #stop = new AbortController()
  readonly #resize: ResizeObserver
  readonly #pointers = new Map<number, { x: number; y: number }>()
  #scene: Scene
  #palette: Palette
  #view: View = { x: 0, y: 0, zoom: 1 }
  #frame = 0
  #settle: ReturnType<typeof setTimeout> | undefined
  #dragged = 0
  #fitted = false

  constructor(canvas: HTMLCanvasElement, layout: Layout, events: StageEvents) {
    const context = canvas.getContext('2d')
    if (context === null) throw new Error('this browser has no canvas')
    this.#canvas = canvas
    this.#context = context
    this.#events = events
    this.#scene = {
      layout,
      selected: undefined,
      cursor: undefined,
      found: undefined,
      moving: false,
    }
    this.#palette = readPalette(canvas)
    this.#resize = new ResizeObserver(() => this.#onResize())
    this.#resize.observe(canvas)
    this.#listen()
  }

  /** Shows something else; a new layout is fitted into the canvas. */
  show(scene: Partial<Omit<Scene, 'moving'>>): void {
    const isNew = scene.layout !== undefined && scene.layout !== this.#scene.layout
    this.#scene = { ...this.#scene, ...scene }
    if (isNew) this.fit()
    this.#redraw()
  }

  /** All of it, or as much as can be read. */
  fit(): void {
    const { width, height } = this.#canvas.getBoundingClientRect()
    const { layout } = this.#scene
    if (width === 0 || layout.width === 0) return
    const zoom = Math.min(1, width / layout.width, Math.max(height / layout.height, 0.12))
    this.#view = {
      zoom,
      x: Math.max(0, (width - layout.width * zoom) / 2),
      y: Math.max(0, Math.min(margin, (height - layout.height * zoom) / 2)),
    }
    this.#fitted = true
    this.#redraw()
  }

  zoomBy(factor: number): void {
    const { width, height } = this.#canvas.getBoundingClientRect()
    this.#zoomAt(width / 2, height / 2, factor)
  }

  /** Moves as little as it takes to see a box. */
  reveal(box: Box): void {
    const { width, height } = this.#canvas.getBoundingClientRect()
    const { zoom } = this.#view
    const [x, y] = [box.x * zoom + this.#view.x, box.y * zoom + this.#view.y]
    const dx = Math.max(margin - x, 0) + Math.min(width - margin - (x + box.width * zoom), 0)
    const dy = Math.max(margin - y, 0) + Math.min(height - margin - (y + box.height * zoom), 0)
    this.#view = { ...this.#view, x: this.#view.x + dx, y: this.#view.y + dy }
    this.#redraw()
  }

  close(): void {
    this.#stop.abort()
    this.#resize.disconnect()
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#settle)
  }

  #listen(): void {
    const { signal } = this.#stop
    const canvas = this.#canvas
    canvas.addEventListener('pointerdown', (event) => this.#onDown(event), { signal })
    canvas.addEventListener('pointermove', (event) => this.#onMove(event), { signal })
    canvas.addEventListener('pointerup', (event) => this.#onUp(event), { signal })
    canvas.addEventListener('pointercancel', (event) => this.#pointers.delete(event.pointerId), {
      signal,
    })
    canvas.addEventListener('wheel', (event) => this.#onWheel(event), { signal, passive: false })
    const recolour = (): void => {
      this.#palette = readPalette(canvas)
      this.#redraw()
    }
    addEventListener(themeEvent, recolour, { signal })
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour, { signal })
  }

  #onResize(): void {
    const { width, height } = this.#canvas.getBoundingClientRect()
    const [w, h] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)]
    if (this.#canvas.width === w && this.#canvas.height === h) return
    this.#canvas.width = w
    this.#canvas.height = h
    if (!this.#fitted) this.fit()
    this.#paint()
  }

  #onDown(event: PointerEvent): void {
    if (event.button !== 0) return
    this.#canvas.setPointerCapture(event.pointerId)
    this.#pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY })
    this.#dragged = 0
  }

  #onMove(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId)
    const now = { x: event.offsetX, y: event.offsetY }
    if (before === undefined) {
      this.#canvas.classList.toggle('over', this.#hit(now.x, now.y) !== undefined)
      return
    }
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1]
    this.#pointers.set(event.pointerId, now)
    if (other !== undefined) {
      const distance = (it: { x: number; y: number }): number =>
        Math.max(1, Math.hypot(it.x - other.x, it.y - other.y))
      this.#zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, distance(now) / distance(before))
      return
    }
    this.#dragged += Math.abs(now.x - before.x) + Math.abs(now.y - before.y)
    const { x, y, zoom } = this.#view
    this.#view = { zoom, x: x + now.x - before.x, y: y + now.y - before.y }
    this.#moved()
  }

  #onUp(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId)
    if (this.#dragged > 4) return
    this.#events.onPick(this.#hit(event.offsetX, event.offsetY)?.id)
  }

  #onWheel(event: WheelEvent): void {
    event.preventDefault()
    const step = event.deltaMode === 1 ? 16 : 1
    const change = Math.max(-100, Math.min(100, event.deltaY * step))
    this.#zoomAt(event.offsetX, event.offsetY, Math.exp(-change / 300))
  }

  #zoomAt(x: number, y: number, factor: number): void {
    const zoom = Math.min(most, Math.max(least, this.#view.zoom * factor))
    const scale = zoom / this.#view.zoom
    this.#view = { zoom, x: x - (x - this.#view.x) * scale, y: y - (y - this.#view.y) * scale }
    this.#moved()
  }

  #hit(x: number, y: number): Box | undefined {
    const [px, py] = [(x - this.#view.x) / this.#view.zoom, (y - this.#view.y) / this.#view.zoom]
    return this.#scene.layout.boxes.find(
      (box) => px >= box.x && px <= box.x + box.width && py >= box.y && py <= box.y + box.height,
    )
  }

  #moved(): void {
    this.#scene = { ...this.#scene, moving: true }
    this.#redraw()
    clearTimeout(this.#settle)
    this.#settle = setTimeout(() => {
      this.#scene = { ...this.#scene, moving: false }
      this.#redraw()
    }, settleMs)
  }

  #redraw(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      this.#paint()
    })
  }

  #paint(): void {
    draw(this.#context, this.#scene, this.#view, this.#palette, devicePixelRatio)
    this.#canvas.dataset['drawn'] = String(this.#scene.layout.boxes.length)
  }
}
