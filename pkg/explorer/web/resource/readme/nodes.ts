import type { Definition, FootnoteDefinition, Nodes } from 'mdast'
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
