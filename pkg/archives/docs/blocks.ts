import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import type { ParsedFile } from './hcl-parser.ts'

/** Attributes and nested blocks, in Terraform's JSON syntax. */
export type Body = Readonly<Record<string, unknown>>

export interface Block {
  readonly labels: readonly string[]
  readonly body: Body
}

/** The number of labels of each block that documentation is read from. */
const labelCounts = {
  terraform: 0,
  variable: 1,
  output: 1,
  provider: 1,
  resource: 2,
  data: 2,
  ephemeral: 2,
  module: 1,
  moved: 0,
  removed: 0,
  host: 1,
  credentials: 1,
} as const

export type BlockType = keyof typeof labelCounts

/** The blocks of a type, in the order of the text. */
export function blocksOf(parsed: ParsedFile, type: BlockType, order: HeaderOrder): Block[] {
  const files = (Array.isArray(parsed) ? parsed : [parsed]).filter(isRecord)
  const blocks = files.flatMap((file) => [...labelled(file[type], labelCounts[type], [])])
  const at = ({ labels }: Block) => order.get(keyOf(type, labels)) ?? order.size
  return blocks.toSorted((a, b) => at(a) - at(b))
}

/** Nested blocks without labels. */
export const nested = (value: unknown): Body[] =>
  [...labelled(value, 0, [])].map(({ body }) => body)

/** Each level can be an object or an array of objects. */
function* labelled(
  value: unknown,
  depth: number,
  labels: readonly string[],
): Generator<Block, void> {
  for (const one of Array.isArray(value) ? value : [value]) {
    if (!isRecord(one)) continue
    if (depth === 0) yield { labels, body: one }
    else {
      for (const [label, inner] of Object.entries(one)) {
        if (label !== '//') yield* labelled(inner, depth - 1, [...labels, label])
      }
    }
  }
}

/** The position of each block's header among the headers of a file, because the parser sorts blocks by name. */
export type HeaderOrder = ReadonlyMap<string, number>

const header = /^[ \t]*([a-z]+)[ \t]+("[^"\n]*"|[\w-]+)(?:[ \t]+("[^"\n]*"|[\w-]+))?[ \t]*\{/gm

/** @param text of a file in the native syntax; JSON objects are in order already */
export function headerOrder(text: string): HeaderOrder {
  const order = new Map<string, number>()
  for (const [, type = '', ...labels] of text.matchAll(header)) {
    const key = keyOf(
      type,
      labels.flatMap((label) => (label === undefined ? [] : [label.replaceAll('"', '')])),
    )
    if (!order.has(key)) order.set(key, order.size)
  }
  return order
}

const keyOf = (type: string, labels: readonly string[]): string => [type, ...labels].join(' ')

/** Unwraps an expression, which the parser writes as `${var.x}`, to its text in the file. */
export const expressionText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.replace(/^\$\{(.*)\}$/s, '$1') : undefined

export const textOrNothing = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** Unescapes a value of the native syntax, in which `$${` and `%%{` mean `${` and `%{`. The parser does not do that. */
export function unescaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/([$%])\1\{/g, '$1{')
  if (Array.isArray(value)) return value.map(unescaped)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unescaped(each)]))
}

/** JSON files may quote booleans. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true'

export const isFalse = (value: unknown): boolean => value === false || value === 'false'

/** Whether a value is nested so deeply that reading it could overflow the stack. */
export function isDeep(value: unknown, levels = 50): boolean {
  if (levels === 0) return true
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  return inner.some((each: unknown) => isDeep(each, levels - 1))
}

/** Whether a value has a number that is too large for JSON. */
export function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  return inner.some(hasInfinity)
}
