/* Colours for HCL and YAML: keywords, fields, strings and comments. They are not parsers, and unknown text stays plain. */

export interface Token {
  readonly kind: 'plain' | 'key' | 'field' | 'string' | 'comment'
  readonly text: string
}

const kinds = ['comment', 'string', 'key', 'field'] as const

const blocks =
  'terraform|required_providers|provider|module|resource|data|variable|output|locals|moved|import|include|inputs'
const pattern = new RegExp(
  [
    '(?<comment>(?:#|//)[^\\n]*|/\\*[^]*?(?:\\*/|(?![^])))',
    '(?<string>"(?:\\\\.|[^"\\\\\\n])*"?)',
    `(?<key>(?=[a-z])(?<=^[ \\t]*)(?:${blocks})(?=[ \\t]*(?:"[^"\\n]*"[ \\t]*)*[{=]))`,
  ].join('|'),
  'gm',
)

const yamlPattern =
  /(?<comment>#(?<=(?:^[ \t]*|\s)#)[^\n]*)|(?<string>"[^"\n]*")|(?<field>(?=[\w.-])(?<=^[ \t]*(?:- )*)[\w.-]+(?=:(?:\s|$)))/gm

export const hclTokens = (source: string): Token[] => tokensOf(source, pattern)
export const yamlTokens = (source: string): Token[] => tokensOf(source, yamlPattern)

function tokensOf(source: string, parts: RegExp): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const match of source.matchAll(parts)) {
    if (match.index > end) tokens.push({ kind: 'plain', text: source.slice(end, match.index) })
    const found = kinds.find((it) => match.groups?.[it] !== undefined)
    tokens.push({ kind: found ?? 'plain', text: match[0] })
    end = match.index + match[0].length
  }
  if (end < source.length) tokens.push({ kind: 'plain', text: source.slice(end) })
  return tokens
}
