import type { Nodes, Root, RootContent } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

/** Deeper nesting is an attack or an accident, and rendering is recursive. */
const deepest = 60
/** If a document takes longer, its rest is shown as written. */
const longestMs = 1500

const options = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }

/** Parses a document. Parts that would take too long become code blocks, so that nothing is lost. */
export function parseMarkdown(markdown: string): Root {
  const began = performance.now()
  const definitions = definitionsOf(markdown)
  const pieces = piecesOf(markdown)
  const children: RootContent[] = []
  for (const [at, piece] of pieces.entries()) {
    if (performance.now() - began > longestMs) {
      const rest = pieces.slice(at).map(({ text }) => text)
      children.push({ type: 'code', value: rest.join('\n\n') })
      break
    }
    append(children, piece, definitions)
  }
  return { type: 'root', children }
}

function append(
  children: RootContent[],
  { kind, text, language }: Piece,
  definitions: ReadonlyMap<string, string>,
): void {
  if (kind === 'code') children.push({ type: 'code', value: text, lang: language ?? null })
  else if (kind === 'text')
    children.push({ type: 'paragraph', children: [{ type: 'text', value: text }] })
  else {
    const read = fromMarkdown(withDefinitions(text, definitions), options)
    if (depthOf(read) > deepest) {
      children.push({ type: 'code', value: text })
      return
    }
    const [first] = read.children
    const last = children.findLast((node) => !isDefinition(node))
    if (kind === 'rows' && first?.type === 'table' && last?.type === 'table') {
      last.children.push(...first.children.slice(1))
      children.push(...read.children.slice(1))
    } else children.push(...read.children)
  }
}

const isDefinition = ({ type }: RootContent): boolean =>
  type === 'definition' || type === 'footnoteDefinition'

function depthOf(tree: Nodes): number {
  let depth = 0
  let level: readonly Nodes[] = [tree]
  while (level.length > 0) {
    depth += 1
    level = level.flatMap((node) => ('children' in node ? node.children : []))
  }
  return depth
}

/*
 * Splits a document into pieces of a few kilobytes, because an attacker can make parsing take quadratic time. It is cut
 * between blocks, otherwise between lines, so that nothing is lost.
 */

interface Piece {
  /**
   * `rows` continue the table of the previous piece and repeat its head. `code` is the content of a fence. `text` is shown as
   * written.
   */
  readonly kind: 'markdown' | 'rows' | 'code' | 'text'
  readonly text: string
  /** Language of the code. */
  readonly language?: string
}

const longest = 4096
const fence = /^ {0,3}(`{3,}|~{3,})(?!~)([^`\n]*)$/
const delimiterRow = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/
const startsBlock = /^\S/

function piecesOf(markdown: string): Piece[] {
  const pieces: Piece[] = []
  let block: string[] = []
  const endBlock = (): void => {
    if (block.length > 0) pieces.push(...cut(block))
    block = []
  }
  const lines = markdown.replaceAll(/\r\n?/g, '\n').split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const opening = line.length > longest ? null : fence.exec(line)
    if (opening !== null) {
      endBlock()
      const end = endOfFence(lines, at, opening[1] ?? '')
      const text = lines.slice(at + 1, end).join('\n')
      pieces.push({ kind: 'code', text, language: opening[2]?.trim().split(/\s/)[0] ?? '' })
      at = end
    } else if (line.length > longest) {
      endBlock()
      pieces.push({ kind: 'text', text: line })
    } else {
      const previous = block.at(-1)
      if (previous?.trim() === '' && startsBlock.test(line)) endBlock()
      block.push(line)
    }
  }
  endBlock()
  return pieces
}

/** The line that closes the fence, or the one after the last. */
function endOfFence(lines: readonly string[], start: number, marks: string): number {
  const mark = marks.charAt(0)
  const closing = new RegExp(`^ {0,3}${mark}{${marks.length},}[ \\t]*$`)
  const end = lines.findIndex((line, at) => at > start && closing.test(line))
  return end < 0 ? lines.length : end
}

function cut(block: readonly string[]): Piece[] {
  const [head = '', delimiter = ''] = block
  const isTable = head.includes('|') && delimiterRow.test(delimiter)
  const prefix = isTable ? [head, delimiter] : []
  const pieces: Piece[] = []
  let lines: string[] = [...prefix]
  let length = 0
  const end = (): void => {
    const kind = isTable && pieces.length > 0 ? 'rows' : 'markdown'
    pieces.push({ kind, text: lines.join('\n') })
    lines = [...prefix]
    length = 0
  }
  for (const line of block.slice(prefix.length)) {
    if (length > 0 && length + line.length > longest) end()
    lines.push(line)
    length += line.length + 1
  }
  end()
  return pieces
}

const definition = /^ {0,3}\[((?:[^\]\\\n]|\\.){1,200})\]:[ \t]*\S.*$/gm
const mostDefinitions = 500

/** Definitions of links and footnotes by label. Every piece may refer to them. */
function definitionsOf(markdown: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [line, label = ''] of markdown.matchAll(definition)) {
    if (found.size >= mostDefinitions) break
    if (line.length <= longest && !found.has(label)) found.set(label, line)
  }
  return found
}

/** A piece with the definitions that it refers to. */
function withDefinitions(text: string, definitions: ReadonlyMap<string, string>): string {
  const used = [...definitions].filter(
    ([label, line]) => text.includes(`[${label}]`) && !text.includes(line),
  )
  return used.length === 0 ? text : `${text}\n\n${used.map(([, line]) => line).join('\n\n')}`
}
