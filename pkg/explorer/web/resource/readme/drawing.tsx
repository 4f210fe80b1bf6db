import type {
  Blockquote,
  Definition,
  FootnoteDefinition,
  Heading,
  List,
  ListItem,
  Nodes,
  Paragraph,
  Root,
  Table,
} from 'mdast'
import type { ComponentChildren } from 'preact'
import { CodeBlock } from '../../parts/code-block.tsx'
import { targetOf } from '../safe-href.ts'
import { alertOf, calloutOf, collect, Ids, textOf, withLines } from './nodes.ts'
import { parseMarkdown } from './parse.ts'

const hcl = new Set(['hcl', 'terraform', 'tf', 'tofu', 'terragrunt'])
/** The card's own heading is an h2. */
const below = 2

export interface ReadmeHeading {
  readonly id: string
  readonly words: string
}

export interface DrawnReadme {
  readonly content: ComponentChildren
  readonly headings: readonly ReadmeHeading[]
}

interface Manner {
  /** Name of the document. */
  readonly of: string
  /** The address of a link or picture; undefined if it leads nowhere. */
  readonly hrefOf: (url: string) => string | undefined
  /** Whether paragraphs that begin with `->`, `~>` or `!>` are callouts, as on the public registry. */
  readonly hasCallouts?: boolean
}

/**
 * Renders a README.
 *
 * @param filesUrl page of the README's folder; without it, relative links are shown as text
 */
export const drawReadme = (markdown: string, filesUrl?: string): DrawnReadme =>
  drawMarkdown(markdown, { of: 'README', hrefOf: (url) => targetOf(url, filesUrl) })

/** Renders a document as elements. It never becomes HTML text, so none of it can run. */
export function drawMarkdown(markdown: string, manner: Manner): DrawnReadme {
  const drawing = new Drawing(parseMarkdown(markdown), manner)
  const content = drawing.root()
  return { content, headings: drawing.sections }
}

/** Turns a Markdown tree into elements. Only listed nodes become elements. All others are dropped or shown as text. */
class Drawing {
  readonly sections: ReadmeHeading[] = []
  readonly #tree: Root
  readonly #ids = new Ids()
  readonly #definitions: ReadonlyMap<string, Definition>
  readonly #footnotes: ReadonlyMap<string, FootnoteDefinition>
  #level = below
  readonly #manner: Manner
  #inLink = false

  constructor(tree: Root, manner: Manner) {
    this.#tree = tree
    this.#manner = manner
    const { definitions, footnotes } = collect(tree)
    this.#definitions = definitions
    this.#footnotes = footnotes
  }

  root(): ComponentChildren {
    const content = this.#all(this.#tree.children)
    const notes = [...this.#footnotes]
    if (notes.length === 0) return content
    return (
      <>
        {content}
        <ol class="footnotes" aria-label="Footnotes">
          {notes.map(([id, note], at) => (
            <li key={id} id={`readme-note-${at + 1}`}>
              {this.#all(note.children)}
            </li>
          ))}
        </ol>
      </>
    )
  }

  #all(nodes: readonly Nodes[]): ComponentChildren[] {
    return withLines(nodes).map((node) =>
      'lines' in node ? <code class="lines">{node.lines}</code> : this.#node(node),
    )
  }

  #node(node: Nodes): ComponentChildren {
    switch (node.type) {
      case 'text':
        return node.value
      case 'paragraph':
        return this.#paragraph(node)
      case 'heading':
        return this.#heading(node)
      case 'emphasis':
        return <em>{this.#all(node.children)}</em>
      case 'strong':
        return <strong>{this.#all(node.children)}</strong>
      case 'delete':
        return <del>{this.#all(node.children)}</del>
      case 'inlineCode':
        return <code>{node.value}</code>
      case 'code':
        return (
          <CodeBlock
            text={node.value}
            what={`example of the ${this.#manner.of}`}
            hcl={hcl.has((node.lang ?? '').toLowerCase())}
          />
        )
      case 'blockquote':
        return this.#quote(node)
      case 'list':
        return this.#list(node)
      case 'table':
        return this.#table(node)
      case 'thematicBreak':
        return <hr />
      case 'break':
        return <br />
      case 'html':
        return this.#html(node.value)
      case 'link':
        return this.#link(node.url, node.children)
      case 'linkReference': {
        const url = this.#definitions.get(node.identifier)?.url ?? ''
        return this.#link(url, node.children)
      }
      case 'image':
        return this.#picture(node.url, node.alt)
      case 'imageReference':
        return this.#picture(this.#definitions.get(node.identifier)?.url ?? '', node.alt)
      case 'footnoteReference':
        return this.#footnoteMark(node.identifier)
      case 'definition':
      case 'footnoteDefinition':
      case 'listItem':
      case 'root':
      case 'tableCell':
      case 'tableRow':
      case 'yaml':
        return null
      default:
        return node satisfies never
    }
  }

  #quote(quote: Blockquote): ComponentChildren {
    const alert = alertOf(quote)
    if (alert === undefined) return <blockquote>{this.#all(quote.children)}</blockquote>
    return (
      <blockquote class={`alert alert-${alert.kind}`}>
        <p>
          <strong>{alert.title}</strong>
        </p>
        {this.#all(alert.children)}
      </blockquote>
    )
  }

  #paragraph({ children }: Paragraph): ComponentChildren {
    const callout = this.#manner.hasCallouts === true ? calloutOf(children) : undefined
    if (callout === undefined) return <p>{this.#all(children)}</p>
    return (
      <blockquote class={`alert alert-${callout.kind}`}>
        <p>{this.#all(callout.children)}</p>
      </blockquote>
    )
  }

  /** Levels are never skipped, even if the document skips them. */
  #heading({ depth, children }: Heading): ComponentChildren {
    const words = textOf(children).trim()
    if (words === '') return null
    this.#level = Math.min(depth + below, this.#level + 1, 6)
    const id = this.#ids.forHeading(words)
    if (this.#level === below + 2) this.sections.push({ id, words })
    const Tag = (['h3', 'h4', 'h5', 'h6'] as const)[this.#level - below - 1] ?? 'h6'
    return <Tag id={id}>{this.#all(children)}</Tag>
  }

  #list({ ordered, start, children }: List): ComponentChildren {
    const items = children.map((item) => this.#item(item))
    if (ordered === true) return <ol start={start ?? 1}>{items}</ol>
    const isTasks = children.some(({ checked }) => typeof checked === 'boolean')
    return <ul class={isTasks ? 'tasks' : undefined}>{items}</ul>
  }

  #item({ checked, children, spread }: ListItem): ComponentChildren {
    const [first, ...rest] = children
    const tight = spread !== true
    const content = (nodes: readonly Nodes[]): ComponentChildren =>
      nodes.map((node) =>
        tight && node.type === 'paragraph' ? this.#all(node.children) : this.#node(node),
      )
    if (typeof checked !== 'boolean') return <li>{content(children)}</li>
    return (
      <li>
        <label class="check">
          <input type="checkbox" checked={checked} disabled />
          <span>{first?.type === 'paragraph' && this.#all(first.children)}</span>
        </label>
        {first?.type === 'paragraph' ? content(rest) : content(children)}
      </li>
    )
  }

  #table({ children, align }: Table): ComponentChildren {
    const [head, ...rows] = children
    const tone = (at: number): string | undefined =>
      align?.[at] === 'right' ? 'right' : align?.[at] === 'center' ? 'center' : undefined
    return (
      <div class="tbl" tabIndex={0} role="group" aria-label={`Table of the ${this.#manner.of}`}>
        <table>
          <thead>
            <tr>
              {head?.children.map((cell, at) =>
                textOf(cell.children).trim() === '' ? (
                  <td class={tone(at)}>{this.#all(cell.children)}</td>
                ) : (
                  <th scope="col" class={tone(at)}>
                    {this.#all(cell.children)}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                {row.children.map((cell, at) => (
                  <td class={tone(at)}>{this.#all(cell.children)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )
  }

  /** Drops markup except line breaks and the anchors that terraform-docs links to. */
  #html(markup: string): ComponentChildren {
    if (/^<br\s*\/?>$/i.test(markup)) return <br />
    const name = /^<a\s+(?:name|id)="([\w.-]{1,120})"\s*\/?>/i.exec(markup)?.[1]
    const id = name === undefined ? undefined : this.#ids.forName(name)
    return id === undefined ? null : <span id={id} />
  }

  #link(url: string, children: readonly Nodes[]): ComponentChildren {
    if (this.#inLink) return this.#all(children)
    this.#inLink = true
    const content = this.#all(children)
    this.#inLink = false
    const words = textOf(children).trim()
    if (url.startsWith('#')) {
      return words === '' ? content : <a href={`#readme-${this.#ids.targetOf(url)}`}>{content}</a>
    }
    const href = this.#manner.hrefOf(url)
    if (href === undefined) return content
    return (
      <a href={href} rel="noopener noreferrer">
        {words === '' ? href : content}
      </a>
    )
  }

  /** Pictures are shown as links, because loading them would tell another host who reads this. */
  #picture(url: string, alt: string | null | undefined): ComponentChildren {
    const words = (alt ?? '').trim() || 'picture'
    const href = this.#inLink ? undefined : this.#manner.hrefOf(url)
    return href === undefined ? (
      words
    ) : (
      <a href={href} rel="noopener noreferrer">
        {words}
      </a>
    )
  }

  #footnoteMark(identifier: string): ComponentChildren {
    const number = [...this.#footnotes.keys()].indexOf(identifier) + 1
    if (number === 0 || this.#inLink) return null
    return (
      <sup>
        <a href={`#readme-note-${number}`}>[{number}]</a>
      </sup>
    )
  }
}
