import type { Blockquote, Nodes, PhrasingContent } from 'mdast'

/** The alerts of GitHub and GitLab: a quote that begins with one of these in brackets, as in `> [!NOTE]`. */
const words = {
  note: 'Note',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
} as const

export interface Alert {
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
