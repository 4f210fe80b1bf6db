/** Headings, badges, images, HTML, rules and code, which do not describe the module in a sentence. */
const notProse = /^(?:#|<|!?\[!?\[|!\[|```|~~~|---|===|\*\*\*|\||>)/

/** More than a paragraph of 300 characters with all of its links. */
const longestRead = 4096

/** The first paragraph of a README as one line of text, of at most 300 characters. */
export function firstParagraph(markdown: string): string | undefined {
  const paragraphs = markdown.replaceAll(/<!--.*?(?:-->|$)/gs, '').split(/\r?\n[ \t]*\r?\n/)
  const prose = paragraphs
    .map((paragraph) => withoutHeading(paragraph.trim()))
    .find((paragraph) => paragraph !== '' && !notProse.test(paragraph))
  if (prose === undefined) return undefined
  const text = prose
    .slice(0, longestRead)
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replaceAll(/(\*\*|__|`)(.+?)\1/g, '$2')
    .replaceAll(/(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])/g, '$2')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = Array.from(text)
  return characters.length <= 300 ? text : `${characters.slice(0, 299).join('')}…`
}

/** A heading can be followed by its first paragraph without an empty line. */
function withoutHeading(paragraph: string): string {
  const [first = '', ...rest] = paragraph.split(/\r?\n/)
  const isUnderlined = /^(?:=+|-+)\s*$/.test(rest[0] ?? '')
  if (isUnderlined) return rest.slice(1).join('\n').trim()
  return first.startsWith('#') ? rest.join('\n').trim() : paragraph
}
