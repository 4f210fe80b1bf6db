/** From worst to mildest; `unknown` is last. */
export const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const
export type Severity = (typeof severities)[number]

/** Index in {@link severities}; other words count as unknown. */
export function rankOf(severity: string): number {
  const index = severities.findIndex((name) => name === severity.toLowerCase())
  return index === -1 ? severities.length - 1 : index
}
