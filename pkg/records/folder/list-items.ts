import { type DocumentPart, newlinesIn } from './documents.ts'

/** A list that was split into its items, without being parsed. */
export interface ListParts {
  /** The fields around the items: apiVersion, kind and so on. */
  readonly envelope: string
  /** Each text is a YAML sequence of one item. */
  readonly items: readonly DocumentPart[]
}

/**
 * Splits the output of `kubectl get -o yaml`, a single document with many objects, so that each can be parsed alone. A line
 * that is indented at most as deep as the dash of an item cannot belong to that item.
 *
 * @returns undefined if the document is not such a list, or is written differently
 */
export function listItemsOf({ text, line }: DocumentPart): ListParts | undefined {
  if (!/^kind:[ \t]*["']?\w*List\b/m.test(text) || usesAliases(text)) return undefined
  const heading = /^items:[ \t]*\r?\n/m.exec(text)
  if (heading === null) return undefined
  const start = heading.index + heading[0].length
  const dash = /(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*( *)-(?=\s)/y
  dash.lastIndex = start
  const indent = dash.exec(text)?.[1]?.length
  if (indent === undefined) return undefined

  const items: DocumentPart[] = []
  let itemStart = start
  let itemLine = line + newlinesIn(text.slice(0, start))
  const close = (end: number) => {
    const item = text.slice(itemStart, end)
    items.push({ text: item, line: itemLine })
    itemLine += newlinesIn(item)
    itemStart = end
  }
  let at = nextLine(text, dash.lastIndex)
  for (; at < text.length; at = nextLine(text, at)) {
    const depth = indentAt(text, at)
    if (depth > indent || isBlankOrComment(text, at + depth)) continue
    if (depth < indent || !/^-\s/.test(text.slice(at + depth, at + depth + 2))) break
    close(at)
  }
  close(at)
  return { envelope: text.slice(0, heading.index) + text.slice(at), items }
}

/** An alias may point to an anchor in another item, so such a list is parsed as a whole. */
function usesAliases(text: string): boolean {
  return /[:\-,[][ \t]+\*[\w-]+[ \t]*[\r\n,\]}]/.test(text)
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end + 1
}

function indentAt(text: string, at: number): number {
  let depth = 0
  while (text[at + depth] === ' ') depth++
  return depth
}

function isBlankOrComment(text: string, at: number): boolean {
  const first = text[at]
  return first === undefined || first === '\n' || first === '\r' || first === '#'
}
