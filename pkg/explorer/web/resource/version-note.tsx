import { Icon } from '../parts/icon.tsx'
import { lifecycleSentences } from '../parts/lifecycle.ts'
import { compareHref, resourceHref } from '../url/pages.ts'
import { safeHref } from './safe-href.ts'
import type { SectionProps } from './section.ts'

/** Says that the page does not show the latest version, or that the shown one is not active, and why. */
export function VersionNote({ address, detail, version, values }: SectionProps) {
  const { shown, isLatest, unknown } = version
  const { lifecycle, latestVersion, hasDocs } = detail
  if (isLatest && unknown === undefined && lifecycle === undefined) return null
  const latestHref = resourceHref(address, { ...values, version: '' })
  const hasNewer = latestVersion !== undefined && !isLatest
  const isRefused = lifecycle?.state === 'Quarantined'
  return (
    <div class={isRefused ? 'note fail older' : 'note warn older'} role="status">
      <Icon name={lifecycle === undefined ? 'wait' : 'warn'} />
      {unknown === undefined ? (
        <p>
          You are looking at <b class="mono">{shown}</b>
          {lifecycle !== undefined && `, which is ${lifecycle.state.toLowerCase()}`}
          {isRefused && ' and cannot be downloaded'}.
          {hasNewer && (
            <>
              {' '}
              Latest is{' '}
              <a class="mono" href={latestHref}>
                {latestVersion}
              </a>
              .
            </>
          )}
          {lifecycle !== undefined && <Why lifecycle={lifecycle} />}
        </p>
      ) : (
        <p>
          There is no version {unknown}. This is {shown ?? 'a resource without one'}.
        </p>
      )}
      <span class="end">
        {hasDocs && shown !== undefined && unknown === undefined && !isLatest && (
          <a class="btn small" href={compareHref(address, { from: shown, to: '' })}>
            Compare
          </a>
        )}
        {(hasNewer || unknown !== undefined) && (
          <a class="btn small" href={latestHref}>
            Go to latest
          </a>
        )}
      </span>
    </div>
  )
}

type Lifecycle = NonNullable<SectionProps['detail']['lifecycle']>

function Why({ lifecycle }: { readonly lifecycle: Lifecycle }) {
  const why = lifecycleSentences(lifecycle)
  const link = safeHref(lifecycle.link ?? '')
  if (why === '' && link === undefined) return null
  return (
    <>
      <br />
      {why}{' '}
      {link !== undefined && (
        <a href={link} rel="noopener noreferrer">
          More about it
          <Icon name="out" />
        </a>
      )}
    </>
  )
}
