import { sentence } from '../parts/format.ts'
import { Note } from '../parts/message.tsx'
import { OutLink } from '../parts/out-link.tsx'
import { compareHref, resourceHref } from '../url/pages.ts'
import { safeHref } from './safe-href.ts'
import type { SectionProps } from './section.ts'

/** Says that the page does not show the latest version, or that the shown one is not active, and why. */
export function VersionNote(props: SectionProps) {
  const { address, detail, version, values } = props
  const { shown, isLatest, unknown } = version
  const { lifecycle, latestVersion, hasDocs } = detail
  if (isLatest && unknown === undefined && lifecycle === undefined) return null
  const latestHref = resourceHref(address, { ...values, version: '' })
  const hasNewer = latestVersion !== undefined && !isLatest
  const isRefused = lifecycle?.state === 'Quarantined'
  return (
    <Note
      tone={isRefused ? 'fail older' : 'warn older'}
      icon={lifecycle === undefined ? 'wait' : 'warn'}
      end={
        <>
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
        </>
      }
    >
      {unknown === undefined ? (
        <>
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
          {lifecycle !== undefined && <Why of={props} lifecycle={lifecycle} />}
        </>
      ) : (
        `There is no version ${unknown}. This is ${shown ?? 'a resource without one'}.`
      )}
    </Note>
  )
}

interface WhyProps {
  readonly of: SectionProps
  readonly lifecycle: NonNullable<SectionProps['detail']['lifecycle']>
}

function Why({ of: { address, detail, values }, lifecycle }: WhyProps) {
  const { message, replacedBy, link = '' } = lifecycle
  const href = safeHref(link)
  if (!message && !replacedBy && href === undefined) return null
  const isHere = detail.versions.some(({ version }) => version === replacedBy)
  return (
    <>
      <br />
      {message && `${sentence(message)} `}
      {replacedBy && (
        <>
          Take{' '}
          {isHere ? (
            <a class="mono" href={resourceHref(address, { ...values, version: replacedBy })}>
              {replacedBy}
            </a>
          ) : (
            replacedBy
          )}{' '}
          instead.{' '}
        </>
      )}
      {href !== undefined && <OutLink href={href}>More about it</OutLink>}
    </>
  )
}
