import { type SyntaxToken, tokenize } from './lexer.ts'

/** Operators between operands that have a meaning of their own, those that bind least first. */
const joints: readonly (readonly string[])[] = [
  ['or', '||'],
  ['and', '&&'],
]
/** Operators that bind less, so that what is left and right of a joint is not an operand of it. */
const looser: ReadonlySet<string> = new Set(['let', 'if', ';', '?', ':', '??', '|'])

/**
 * Cuts a rule into the parts that `or`, or otherwise `and`, joins at its top, as written.
 *
 * @returns undefined if it has one part only
 */
export function operandsOf(source: string): readonly string[] | undefined {
  let depth = 0
  const top: SyntaxToken[] = []
  for (const token of tokenize(source)) {
    if (token.kind === 'bracket') depth += '([{'.includes(token.text) ? 1 : -1
    else if (depth === 0 && token.kind !== 'string') top.push(token)
  }
  if (top.some(({ text }) => looser.has(text))) return undefined
  const joint = joints.find((words) => top.some(({ text }) => words.includes(text)))
  if (joint === undefined) return undefined
  const parts: string[] = []
  let start = 0
  for (const { text, at } of top) {
    if (!joint.includes(text)) continue
    parts.push(source.slice(start, at).trim())
    start = at + text.length
  }
  return [...parts, source.slice(start).trim()]
}
