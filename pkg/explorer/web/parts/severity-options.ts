/** The choices of a filter by severity. */
export const severityOptions = [
  ['', 'Any severity'],
  ['LOW', 'Low or worse'],
  ['MEDIUM', 'Medium or worse'],
  ['HIGH', 'High or worse'],
  ['CRITICAL', 'Critical'],
] as const
