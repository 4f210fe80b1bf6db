import { placeholderOf, type Tables } from './table.ts'

/** Suggests the flag that an unknown flag probably means. */
export function unknownFlag({ options, secrets = {} }: Tables, argument: string): string {
  const flag = argument.replace(/=.*/s, '')
  const variable = `DEPOT_${flag.replace(/^-+/, '').replaceAll('-', '_').toUpperCase()}`
  const secret = Object.values(secrets).find((candidate) => candidate.variable === variable)
  if (secret !== undefined) {
    return `${flag} is a secret and no flag: set ${secret.variable} or ${secret.variable}_FILE`
  }
  const table = Object.values(options)
  const negated = table.find((option) => flag === `--no-${option.flag}`)
  if (negated !== undefined && placeholderOf(negated) === undefined) {
    return `${flag} is unknown: write --${negated.flag}=false`
  }
  const typed = flag.slice(0, 80).replaceAll('_', '-').replace(/^-*/, '--')
  const meant = closest(typed, [
    '--help',
    '--version',
    ...table.map((option) => `--${option.flag}`),
  ])
  const hint = meant === undefined ? '--help lists all flags' : `did you mean ${meant}?`
  return `${flag} is unknown: ${hint}`
}

/** The candidate that differs from `text` by a typo, or that begins with `text`. */
export function closest(text: string, candidates: readonly string[]): string | undefined {
  const worded = text.slice(0, 80).toLowerCase()
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editDistance(worded, candidate) }))
    .toSorted((a, b) => a.edits - b.edits)
  if (best !== undefined && best.edits <= 1 + worded.length / 6) return best.candidate
  return worded.length > 5 ? candidates.find((option) => option.startsWith(worded)) : undefined
}

/** Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let previous = [0, ...to.split('').map((_, column) => column + 1)]
  for (const [row, letter] of from.split('').entries()) {
    const current = [row + 1]
    for (const [column, other] of to.split('').entries()) {
      current.push(
        Math.min(
          (previous[column] ?? 0) + (letter === other ? 0 : 1),
          (previous[column + 1] ?? 0) + 1,
          (current[column] ?? 0) + 1,
        ),
      )
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
