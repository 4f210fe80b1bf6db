import type { SeverityCounts } from '../api/records.ts'
import { number } from './format.ts'
import { Hidden } from './icon.tsx'

export const ranks = [
  { key: 'critical', letter: 'C', word: 'Critical', tone: 'sC' },
  { key: 'high', letter: 'H', word: 'High', tone: 'sH' },
  { key: 'medium', letter: 'M', word: 'Medium', tone: 'sM' },
  { key: 'low', letter: 'L', word: 'Low', tone: 'sL' },
  { key: 'unknown', letter: 'U', word: 'Unknown', tone: 'sU' },
] as const

/** The choices of a filter by severity. */
export const severityOptions = [
  ['', 'Any severity'],
  ['LOW', 'Low or worse'],
  ['MEDIUM', 'Medium or worse'],
  ['HIGH', 'High or worse'],
  ['CRITICAL', 'Critical'],
] as const

interface Props {
  /** Undefined if nothing was scanned. */
  readonly counts: SeverityCounts | undefined
  /** Reserves space for every severity, so that rows can be compared. */
  readonly slots?: boolean
  /** Target of the counts as links. */
  readonly href?: string
}

/** Findings by severity: a letter and a count, with words for screen readers. */
export function SeverityCounts({ counts, slots = false, href }: Props) {
  if (counts === undefined) return <span class="quiet">Not scanned</span>
  if (ranks.every(({ key }) => counts[key] === 0)) return <span class="quiet">No findings</span>
  return (
    <span class={slots ? 'sev' : 'sev tight'}>
      {ranks.map(({ key, letter, tone }) => {
        const count = counts[key]
        if (count === 0) {
          return slots && key !== 'unknown' ? <Nothing key={key} /> : null
        }
        const content = (
          <>
            <span aria-hidden="true">
              <b>{letter}</b> {number(count)}
            </span>
            <Hidden>
              {number(count)} {key} {count === 1 ? 'finding' : 'findings'},{' '}
            </Hidden>
          </>
        )
        return href === undefined ? (
          <span key={key} class={tone}>
            {content}
          </span>
        ) : (
          <a key={key} class={tone} href={href}>
            {content}
          </a>
        )
      })}
    </span>
  )
}

const Nothing = () => (
  <span class="nil" aria-hidden="true">
    ·
  </span>
)

export function SeverityWord({ severity }: { readonly severity: string }) {
  const rank = ranks.find(({ key }) => key === severity.toLowerCase()) ?? ranks[4]
  return (
    <span class="sev word">
      <span class={rank.tone}>
        <b>{rank.word}</b>
      </span>
    </span>
  )
}
