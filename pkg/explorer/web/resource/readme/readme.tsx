import { useLayoutEffect, useMemo } from 'preact/hooks'
import { ErrorBoundary } from '../../parts/error-boundary.tsx'
import { drawReadme, type ReadmeHeading } from './drawing.tsx'

export type { ReadmeHeading }

interface Props {
  readonly content: string
  /** Page of the README's folder, at the tag of the version. */
  readonly filesUrl?: string | undefined
  /** The version that the README belongs to. */
  readonly version: string | undefined
  /** Called with the headings of the sections after rendering. */
  readonly onHeadings: (headings: readonly ReadmeHeading[]) => void
}

/** Longer READMEs are shown as written. */
const longestMarkdown = 512 * 1024

/** The README as its authors wrote it. */
export function Readme({ content, filesUrl, version, onHeadings }: Props) {
  const isPlain = content.length > longestMarkdown
  return (
    <section class="readme" aria-labelledby="readme">
      <header>
        <h2 id="readme">README</h2>
        <span class="end">{version !== undefined && `of ${version}`}</span>
      </header>
      <ErrorBoundary resetOn={content} what="The README">
        {isPlain ? (
          <Plain content={content} why="It is longer than 512 KiB, so it is shown as written." />
        ) : (
          <Markdown content={content} filesUrl={filesUrl} onHeadings={onHeadings} />
        )}
      </ErrorBoundary>
      <footer>
        Shown as its authors wrote it. For the exact address and version, copy from{' '}
        <a href="#usage">Usage</a>.
      </footer>
    </section>
  )
}

function Markdown({ content, filesUrl, onHeadings }: Omit<Props, 'version'>) {
  const drawn = useMemo(() => drawReadme(content, filesUrl), [content, filesUrl])
  // Before the page is painted, so that nothing moves.
  useLayoutEffect(() => onHeadings(drawn.headings), [drawn])
  return <div class="prose">{drawn.content}</div>
}

const Plain = ({ content, why }: { readonly content: string; readonly why: string }) => (
  <div class="prose">
    <p class="quiet">{why}</p>
    <pre class="plain">{content}</pre>
  </div>
)
