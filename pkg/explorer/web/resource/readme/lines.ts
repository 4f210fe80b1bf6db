import type { Nodes } from 'mdast'
import { textOf } from './nodes.ts'

/** Text that keeps its lines and spaces. */
export interface Lines {
  readonly lines: string
}

const opening = /^<pre>$/i
const closing = /^<\/pre>$/i

/** Replaces `<pre>` elements, in which terraform-docs writes long types into table cells. */
export function withLines(nodes: readonly Nodes[]): readonly (Nodes | Lines)[] {
  const start = nodes.findIndex((node) => node.type === 'html' && opening.test(node.value))
  if (start === -1) return nodes
  const end = nodes.findIndex(
    (node, at) => at > start && node.type === 'html' && closing.test(node.value),
  )
  if (end === -1) return nodes
  const lines = nodes.slice(start + 1, end).map((node) => (isBreak(node) ? '\n' : textOf([node])))
  return [...nodes.slice(0, start), { lines: lines.join('') }, ...withLines(nodes.slice(end + 1))]
}

const isBreak = (node: Nodes): boolean =>
  node.type === 'break' || (node.type === 'html' && /^<br\s*\/?>$/i.test(node.value))
