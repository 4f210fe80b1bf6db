/* Colours for HCL: keywords, strings and comments. It is not a parser; unknown text stays plain. */

export interface Token {
  readonly kind: 'plain' | 'key' | 'string' | 'comment'
  readonly text: string
}

const blocks =
  'terraform|required_providers|provider|module|resource|data|variable|output|locals|moved|import|include|inputs'
const pattern = new RegExp(
  [
    '(?<comment>(?:#|//)[^\\n]*|/\\*[^]*?(?:\\*/|(?![^])))',
    '(?<string>"(?:\\\\.|[^"\\\\\\n])*"?)',
    `(?<key>(?<=^[ \\t]*)(?:${blocks})(?=[ \\t]*(?:"[^"\\n]*"[ \\t]*)*[{=]))`,
  ].join('|'),
  'gm',
)

export function hclTokens(source: string): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const match of source.matchAll(pattern)) {
    if (match.index > end) tokens.push({ kind: 'plain', text: source.slice(end, match.index) })
    const { comment, string } = match.groups ?? {}
    const kind = comment !== undefined ? 'comment' : string !== undefined ? 'string' : 'key'
    tokens.push({ kind, text: match[0] })
    end = match.index + match[0].length
  }
  if (end < source.length) tokens.push({ kind: 'plain', text: source.slice(end) })
  return tokens
}
