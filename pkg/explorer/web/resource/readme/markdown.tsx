import type { ComponentChildren } from 'preact'
import { Drawing } from './drawing.tsx'
import { parseMarkdown } from './parse.ts'
import type { ReadmeHeading } from './readme.tsx'

export interface DrawnReadme {
  readonly content: ComponentChildren
  readonly headings: readonly ReadmeHeading[]
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
  const drawing = new Drawing(parseMarkdown(markdown))
  const content = drawing.root()
  return { content, headings: drawing.sections }
}
