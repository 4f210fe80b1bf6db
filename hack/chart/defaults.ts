import { stringify } from 'yaml'
import type { Section } from './values.ts'

type Tree = Map<string, Tree | Leaf>
interface Leaf {
  readonly meaning: string
  readonly initial: unknown
}

/** values.yaml: every value with its default, and its meaning above it. */
export function defaultsOf(sections: readonly Section[]): string {
  return sections
    .map(({ title, values }) => ({ title, values: values.filter((value) => !value.retired) }))
    .filter(({ values }) => values.length > 0)
    .map(({ title, values }) => {
      const tree: Tree = new Map()
      for (const { name, meaning, default: initial } of values) {
        insert(tree, name.split('.'), { meaning, initial })
      }
      return `# ---- ${title} ----\n\n${lines(tree, '').join('\n')}\n`
    })
    .join('\n')
}

function insert(tree: Tree, [key = '', ...rest]: readonly string[], leaf: Leaf): void {
  if (rest.length === 0) {
    tree.set(key, leaf)
    return
  }
  const below = tree.get(key) ?? new Map()
  if (!(below instanceof Map)) throw new Error(`${key} is a value and has values below it`)
  tree.set(key, below)
  insert(below, rest, leaf)
}

function lines(tree: Tree, indent: string): string[] {
  return [...tree].flatMap(([key, node]) =>
    node instanceof Map
      ? [`${indent}${key}:`, ...lines(node, `${indent}  `)]
      : [...wrapped(node.meaning, `${indent}# `), ...entry(key, node.initial, indent)],
  )
}

function entry(key: string, initial: unknown, indent: string): string[] {
  return stringify({ [key]: initial }, { lineWidth: 0, singleQuote: false })
    .trimEnd()
    .split('\n')
    .map((line) => `${indent}${line}`)
}

function wrapped(text: string, prefix: string): string[] {
  const result: string[] = []
  for (const word of text.split(' ')) {
    const last = result.at(-1)
    if (last !== undefined && last.length + word.length < 100) {
      result[result.length - 1] = `${last} ${word}`
    } else {
      result.push(`${prefix}${word}`)
    }
  }
  return result
}
