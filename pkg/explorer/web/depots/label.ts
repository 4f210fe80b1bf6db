/* Words in boxes. Measuring takes longer than drawing: each version once, and of a font with letters of one width one letter. */

/** What a canvas draws with. */
interface Measuring {
  readonly font: string
  measureText(words: string): { readonly width: number }
}

const mostKnown = 5000
const widths = new Map<string, number>()

/** In pixels, in the font of the context. */
export function widthOf(context: Measuring, words: string): number {
  const key = `${context.font} ${words}`
  const known = widths.get(key)
  if (known !== undefined) return known
  const { width } = context.measureText(words)
  if (widths.size >= mostKnown) widths.clear()
  widths.set(key, width)
  return width
}

const least = 4

/**
 * As much of a name as one line holds; the panel and the list show all of it.
 *
 * @param letters how many there is space for
 */
export function fitted(words: string, letters: number): string {
  const most = Math.max(least, Math.floor(letters))
  return words.length <= most ? words : `${words.slice(0, most - 1)}…`
}
