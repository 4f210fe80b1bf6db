/** A measurement and its goal. */
export interface Goal {
  readonly what: string
  readonly goal: string
  readonly figure: number
  readonly isMet: boolean
  /** Other observations. */
  readonly also: string
}

export const atLeast = (what: string, least: number, figure: number, also = ''): Goal => ({
  what,
  goal: `>= ${least}`,
  figure,
  isMet: figure >= least,
  also,
})

export const atMost = (what: string, most: number, figure: number, also = ''): Goal => ({
  what,
  goal: `<= ${most}`,
  figure,
  isMet: figure <= most,
  also,
})

/** One table in Markdown, which `docs/performance.md` shows. */
export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ what, goal, figure, isMet, also }) => [
    what,
    goal,
    figure >= 100 ? figure.toFixed(0) : figure.toFixed(2),
    isMet ? 'met' : 'missed',
    also,
  ])
  const header = ['measured', 'goal', 'figure', '', 'also']
  return [header, header.map(() => '---'), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}
