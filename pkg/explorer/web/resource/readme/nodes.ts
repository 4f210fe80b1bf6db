import type { Blockquote, Definition, FootnoteDefinition, Nodes, PhrasingContent } from 'mdast'
import { decoded } from '../../url/search-params.ts'

/** Definitions and footnotes of a document. If two have the same name, the first counts. */
export function collect(tree: Nodes): {
  definitions: Map<string, Definition>
  footnotes: Map<string, FootnoteDefinition>
} {
  const definitions = new Map<string, Definition>()
  const footnotes = new Map<string, FootnoteDefinition>()
  const visit = (node: Nodes): void => {
    if (node.type === 'definition' && !definitions.has(node.identifier))
      definitions.set(node.identifier, node)
    if (node.type === 'footnoteDefinition' && !footnotes.has(node.identifier))
      footnotes.set(node.identifier, node)
    if ('children' in node) node.children.forEach(visit)
  }
  visit(tree)
  return { definitions, footnotes }
}

/** The plain text of nodes. */
export function textOf(nodes: readonly Nodes[]): string {
  return nodes
    .map((node) => {
      if (node.type === 'text' || node.type === 'inlineCode') return node.value
      if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? 'picture'
      return 'children' in node ? textOf(node.children) : ''
    })
    .join('')
}

/** Ids inside the README. All begin with `readme-`, so that none collides with an id of the page. */
export class Ids {
  readonly #used = new Set(['readme'])
  /** The last number of each heading, so that thousands of equal headings get ids quickly. */
  readonly #repeated = new Map<string, number>()

  /** An id as GitHub writes it, with a number if the heading is repeated. */
  forHeading(words: string): string {
    const slug = words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s+/g, '-')
      .slice(0, 100)
    const base = `readme-${slug === '' ? 'section' : slug}`
    let number = this.#repeated.get(base) ?? 0
    let id = number === 0 ? base : `${base}-${number}`
    for (; this.#used.has(id); id = `${base}-${number}`) number += 1
    this.#repeated.set(base, number)
    this.#used.add(id)
    return id
  }

  /** Undefined if the name is taken. */
  forName(name: string): string | undefined {
    const id = `readme-${name}`
    if (this.#used.has(id)) return undefined
    this.#used.add(id)
    return id
  }

  /** The id that a link within the document refers to. */
  targetOf(link: string): string {
    // A badly encoded target leads nowhere.
    const name = decoded(link.slice(1)) ?? link.slice(1)
    return encodeURIComponent(name.replaceAll('\\', '').slice(0, 120))
  }
}

/** Text that keeps its lines and spaces. */
interface Lines {
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

/** The alerts of GitHub and GitLab: a quote that begins with one of these in brackets, as in `> [!NOTE]`. */
const words = {
  note: 'Note',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
} as const

interface Alert {
  readonly kind: keyof typeof words
  readonly title: string
  readonly children: readonly Nodes[]
}

/** Reads a quote as an alert; undefined if it is a plain quote. */
export function alertOf({ children }: Blockquote): Alert | undefined {
  const [first, ...rest] = children
  const [mark, ...more] = first?.type === 'paragraph' ? first.children : []
  if (first?.type !== 'paragraph' || mark?.type !== 'text') return undefined
  const [found = '', name = ''] = /^\[!(\w+)\][ \t]*(?:\n|$)/.exec(mark.value) ?? []
  const kind = name.toLowerCase()
  if (!isKind(kind)) return undefined
  const text = mark.value.slice(found.length)
  const left = [...(text === '' ? [] : [{ ...mark, value: text }]), ...more]
  const paragraph = left.length === 0 ? [] : [{ ...first, children: left }]
  return { kind, title: words[kind], children: [...paragraph, ...rest] }
}

/** The callouts of the public registry: a paragraph that begins with one of these. */
const callouts = { '->': 'note', '~>': 'warning', '!>': 'caution' } as const

/** Reads a paragraph as a callout, whose title is in its text; undefined if it is plain. */
export function calloutOf(
  children: readonly PhrasingContent[],
): Pick<Alert, 'kind' | 'children'> | undefined {
  const [first, ...rest] = children
  if (first?.type !== 'text') return undefined
  const [, mark = '', text = ''] = /^([-~!]>)[ \t]+([^]*)$/.exec(first.value) ?? []
  if (mark !== '->' && mark !== '~>' && mark !== '!>') return undefined
  return { kind: callouts[mark], children: [{ ...first, value: text }, ...rest] }
}

const isKind = (name: string): name is keyof typeof words => Object.hasOwn(words, name)
