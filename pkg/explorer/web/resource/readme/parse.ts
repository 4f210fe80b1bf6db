import type { Nodes, Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

/** Deeper documents are attacks or accidents, and drawing goes as deep as they do. */
const deepest = 60

/**
 * Undefined for a document that is nested too deeply: in its text, where reading it would take long, or in what was read.
 */
export function parseMarkdown(markdown: string): Root | undefined {
  if (isNestedText(markdown)) return undefined
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
  return depthOf(tree) > deepest ? undefined : tree
}

const suspicious = [
  // Quotes and lists inside each other, on one line.
  /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])[ \t]?){61}/m,
  // Brackets, emphasis and code marks that never close cost the parser the square of their number.
  /(?:!?\[[^\]\n]{0,3}){400}/,
  /(?:[*_~]{1,3}[^*_~\n]{1,3}){3000}/,
  /(?:`+[^`\n]{1,3}){3000}/,
  /(?:<[^>\n]{0,3}){3000}/,
]

const isNestedText = (markdown: string): boolean =>
  suspicious.some((pattern) => pattern.test(markdown))

function depthOf(tree: Nodes): number {
  let depth = 0
  let level: readonly Nodes[] = [tree]
  while (level.length > 0) {
    depth += 1
    level = level.flatMap((node) => ('children' in node ? node.children : []))
  }
  return depth
}
