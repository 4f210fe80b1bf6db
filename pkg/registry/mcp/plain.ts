/** Sequences that change the colours or content of a terminal. */
const escape = String.fromCharCode(0x1b)
const terminalCodes = new RegExp(`${escape}\\[[0-?]*[ -/]*[@-~]`, 'g')
const lineEnds = /\r\n?|[\u0085\u2028\u2029]/g
/** Controls, marks that hide or reverse text, and everything else that people do not see and models read. */
const unseen = /(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}]/gu

/** Returns the visible text of an untrusted text. */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(terminalCodes, '')
    .replaceAll(lineEnds, '\n')
    .replaceAll(unseen, '')

/** Cleans all texts and names in a JSON value. */
export function visibleValue(value: unknown): unknown {
  if (typeof value === 'string') return visible(value)
  if (Array.isArray(value)) return value.map(visibleValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [visible(key), visibleValue(each)]),
  )
}
