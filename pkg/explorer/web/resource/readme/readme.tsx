import { useEffect, useMemo, useState } from 'preact/hooks'
import { ErrorBoundary } from '../../parts/error-boundary.tsx'
import { Lines } from '../../parts/skeleton.tsx'
import type * as drawing from './drawing.tsx'

export interface ReadmeHeading {
  readonly id: string
  readonly words: string
}

interface Props {
  readonly content: string
  /** The version that the README belongs to. */
  readonly version: string | undefined
  /** Called with the headings of the sections after drawing. */
  readonly onHeadings: (headings: readonly ReadmeHeading[]) => void
}

type Chunk = Pick<typeof drawing, 'drawReadme'>

/** Longer READMEs are shown as written. */
const longestMarkdown = 512 * 1024

/** The README as its authors wrote it. The Markdown code is loaded when a page needs it. */
export function Readme({ content, version, onHeadings }: Props) {
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
          <Markdown content={content} onHeadings={onHeadings} />
        )}
      </ErrorBoundary>
      <footer>
        Shown as its authors wrote it. For the exact address and version, copy from{' '}
        <a href="#usage">Usage</a>.
      </footer>
    </section>
  )
}

function Markdown({ content, onHeadings }: Pick<Props, 'content' | 'onHeadings'>) {
  const [chunk, setChunk] = useState<Chunk | 'loading' | 'failed'>('loading')
  useEffect(() => {
    import('./drawing.tsx').then(setChunk, () => setChunk('failed'))
  }, [])
  const drawn = useMemo(
    () => (typeof chunk === 'string' ? undefined : chunk.drawReadme(content)),
    [chunk, content],
  )
  useEffect(() => {
    if (drawn !== undefined) onHeadings(drawn.headings)
  }, [drawn])
  if (chunk === 'failed')
    return <Plain content={content} why="The code that draws READMEs could not be loaded." />
  if (drawn === undefined) {
    return (
      <div class="prose" aria-busy="true">
        <Lines count={12} />
      </div>
    )
  }
  return <div class="prose">{drawn.content}</div>
}

const Plain = ({ content, why }: { readonly content: string; readonly why: string }) => (
  <div class="prose">
    <p class="quiet">{why}</p>
    <pre class="plain">{content}</pre>
  </div>
)
