import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy-button.tsx'
import { number } from '../parts/format.ts'
import { rootTabs } from '../url/pages.ts'
import { countsOf, tabNames } from './docs/inputs.ts'
import { countOf } from './findings/count.ts'
import type { ReadmeHeading } from './readme/readme.tsx'
import type { SectionProps } from './section.ts'
import { blockOf } from './usage.tsx'
import { VersionPick } from './version-pick.tsx'

interface Props extends SectionProps {
  readonly headings: readonly ReadmeHeading[]
}

interface Section {
  readonly id: string
  readonly words: string
  readonly count?: number | undefined
  readonly sub?: boolean
}

/** The version to choose, the usage block to copy, and links to all sections if they are not shown elsewhere. */
export function Aside(props: Props) {
  const { detail, version, change } = props
  return (
    <aside class="aside" aria-label="Version and usage">
      {detail.versions.length > 1 && (
        <VersionPick detail={detail} version={version} onChoose={(it) => change({ version: it })} />
      )}
      {version.shown !== undefined && (
        <CopyButton text={blockOf(props)} what="usage block" look="main" />
      )}
      {detail.kind === 'provider' && <Contents {...props} />}
    </aside>
  )
}

/** Links to the sections of the page. */
export function Contents({ address, detail, docs, headings }: Props) {
  const sections =
    detail.kind === 'provider'
      ? providerSections(detail)
      : address.folder === undefined
        ? readmeSections(headings)
        : folderSections(docs, headings)
  const current = useCurrentSection(sections.map(({ id }) => id))
  return <Toc sections={sections} current={current} />
}

interface TocProps {
  readonly sections: readonly Section[]
  readonly current?: string | undefined
  readonly look?: string
}

export const Toc = ({ sections, current, look = 'toc' }: TocProps) => (
  <nav class={look} aria-label="On this page">
    <h2>On this page</h2>
    <ul>
      {sections.map(({ id, words, count, sub }) => (
        <li key={id} class={sub === true ? 'sub' : undefined}>
          <a href={`#${id}`} aria-current={id === current ? 'true' : undefined}>
            <span>{words}</span>
            {count !== undefined && <span class="quiet num">{number(count)}</span>}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

const readmeSections = (headings: readonly ReadmeHeading[]): Section[] => [
  { id: 'readme', words: 'README' },
  ...headings.slice(0, 12).map(({ id, words }) => ({ id, words, sub: true })),
]

const providerSections = (detail: Props['detail']): Section[] => [
  { id: 'overview', words: 'Overview' },
  { id: 'usage', words: 'Usage' },
  { id: 'versions', words: 'Versions', count: detail.versions.length },
  { id: 'findings', words: 'Findings', count: countOf(detail) },
  ...(detail.totalDownloads > 0 ? [{ id: 'downloads', words: 'Downloads' }] : []),
]

/** The sections of a submodule or example. */
const folderSections = (docs: Props['docs'], headings: readonly ReadmeHeading[]): Section[] =>
  docs === undefined
    ? []
    : [
        { id: 'usage', words: 'Usage' },
        ...(docs.root.readme === undefined ? [] : readmeSections(headings)),
        ...rootTabs.map((tab) => ({ id: tab, words: tabNames[tab], count: countsOf(docs)[tab] })),
      ]

const topPx = 120

/** The last section whose heading is above the top of the window. */
function useCurrentSection(ids: readonly string[]): string | undefined {
  const [current, setCurrent] = useState(ids[0])
  const known = ids.join(' ')
  useEffect(() => {
    let frame = 0
    const look = (): void => {
      frame = 0
      const passed = known.split(' ').filter((id) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top
        return top !== undefined && top < topPx
      })
      setCurrent(passed.at(-1) ?? known.split(' ')[0])
    }
    const onScroll = (): void => {
      frame ||= requestAnimationFrame(look)
    }
    look()
    addEventListener('scroll', onScroll, { passive: true })
    return () => {
      removeEventListener('scroll', onScroll)
      cancelAnimationFrame(frame)
    }
  }, [known])
  return current
}
