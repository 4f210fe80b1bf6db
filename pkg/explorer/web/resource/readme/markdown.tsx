import type { ComponentChildren } from 'preact'
import { Drawing } from './drawing.tsx'
import { parseMarkdown } from './parse.ts'
import type { ReadmeHeading } from './readme.tsx'

export interface DrawnReadme {
  readonly content: ComponentChildren
  readonly headings: readonly ReadmeHeading[]
  /** Whether it is too deep to draw. */
  readonly isPlain: boolean
}

const drawnBefore = new Map<string, DrawnReadme>()
const most = 4

/** The README as elements. No HTML text exists on the way, so none of it can run. Drawn once for each text. */
export function drawReadme(markdown: string): DrawnReadme {
  const known = drawnBefore.get(markdown)
  if (known !== undefined) return known
  const drawn = draw(markdown)
  if (drawnBefore.size >= most) drawnBefore.clear()
  drawnBefore.set(markdown, drawn)
  return drawn
}

function draw(markdown: string): DrawnReadme {
  const tree = parseMarkdown(markdown)
  if (tree === undefined) return { content: null, headings: [], isPlain: true }
  const drawing = new Drawing(tree)
  const content = drawing.root()
  return { content, headings: drawing.sections, isPlain: false }
}
