import type { Definition, FootnoteDefinition, Nodes } from 'mdast'

/** What is referred to from elsewhere in the document. The first of two with one name counts. */
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

/** The words of some nodes, without their form. */
export function textOf(nodes: readonly Nodes[]): string {
  return nodes
    .map((node) => {
      if (node.type === 'text' || node.type === 'inlineCode') return node.value
      if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? 'picture'
      return 'children' in node ? textOf(node.children) : ''
    })
    .join('')
}

/** Ids inside the README. All begin with `readme-`, so that none is one of the page's own. */
export class Ids {
  readonly #used = new Set(['readme'])
  /** The last number that a heading got, so that thousands of one name are quick to name. */
  readonly #repeated = new Map<string, number>()

  /** As GitHub names headings, with a number where a name comes again. */
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

  /** Undefined for a name that is taken. */
  forName(name: string): string | undefined {
    const id = `readme-${name}`
    if (this.#used.has(id)) return undefined
    this.#used.add(id)
    return id
  }

  /** The target of a link within the document, as an id may be written. */
  targetOf(link: string): string {
    let name = link.slice(1)
    try {
      name = decodeURIComponent(name)
    } catch {
      // A target that is badly encoded leads nowhere, which is what it did before.
    }
    return encodeURIComponent(name.replaceAll('\\', '').slice(0, 120))
  }
}
