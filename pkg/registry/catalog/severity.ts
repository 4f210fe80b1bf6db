/** From worst to mildest, then what the scanner could not tell. */
export const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const
export type Severity = (typeof severities)[number]

/** Index in {@link severities}; a word that is none of them is unknown. */
export function rankOf(severity: string): number {
  const index = severities.findIndex((name) => name === severity.toLowerCase())
  return index === -1 ? severities.length - 1 : index
}
