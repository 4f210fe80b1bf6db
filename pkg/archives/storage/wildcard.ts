/** Whether a text matches a pattern; compiled once. */
export type Wildcard = (text: string) => boolean

/** A pattern where `*` means any text. A match takes time proportional to text and pattern. */
export function compileWildcard(pattern: string): Wildcard {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (text.length < first.length + last.length) return false
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let position = first.length
    for (const part of rest) {
      const found = text.indexOf(part, position)
      if (found === -1) return false
      position = found + part.length
    }
    return position <= text.length - last.length
  }
}
