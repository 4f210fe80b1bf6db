import type { Nodes, Root, RootContent } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { definitionsOf, type Piece, piecesOf, withDefinitions } from './pieces.ts'

/** Deeper nesting is an attack or an accident, and rendering is recursive. */
const deepest = 60
/** If a document takes longer, its rest is shown as written. */
const longestMs = 1500

const options = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }

/** Parses a document. Parts that would take too long become code blocks, so that nothing is lost. */
export function parseMarkdown(markdown: string): Root {
  const began = performance.now()
  const definitions = definitionsOf(markdown)
  const pieces = piecesOf(markdown)
  const children: RootContent[] = []
  for (const [at, piece] of pieces.entries()) {
    if (performance.now() - began > longestMs) {
      const rest = pieces.slice(at).map(({ text }) => text)
      children.push({ type: 'code', value: rest.join('\n\n') })
      break
    }
    append(children, piece, definitions)
  }
  return { type: 'root', children }
}

function append(
  children: RootContent[],
  { kind, text, language }: Piece,
  definitions: ReadonlyMap<string, string>,
): void {
  if (kind === 'code') children.push({ type: 'code', value: text, lang: language ?? null })
  else if (kind === 'text')
    children.push({ type: 'paragraph', children: [{ type: 'text', value: text }] })
  else {
    const read = fromMarkdown(withDefinitions(text, definitions), options)
    if (depthOf(read) > deepest) {
      children.push({ type: 'code', value: text })
      return
    }
    const [first] = read.children
    const last = children.findLast((node) => !isDefinition(node))
    if (kind === 'rows' && first?.type === 'table' && last?.type === 'table') {
      last.children.push(...first.children.slice(1))
      children.push(...read.children.slice(1))
    } else children.push(...read.children)
  }
}

const isDefinition = ({ type }: RootContent): boolean =>
  type === 'definition' || type === 'footnoteDefinition'

function depthOf(tree: Nodes): number {
  let depth = 0
  let level: readonly Nodes[] = [tree]
  while (level.length > 0) {
    depth += 1
    level = level.flatMap((node) => ('children' in node ? node.children : []))
  }
  return depth
}
