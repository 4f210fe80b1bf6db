import { addressOf } from '../../../api/usage/usage.ts'
import { boot } from '../api/boot.ts'
import type { ResourceDetail, VersionDocs } from '../api/records.ts'
import { SyncChip, Visibility } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { CodeFact, Fact } from '../parts/fact.tsx'
import { number, plural } from '../parts/format.ts'
import { Section } from '../parts/section.tsx'
import { TimeAgo } from '../parts/time-ago.tsx'
import { resourceHref, resourcesHref } from '../url/pages.ts'
import { safeHref } from './safe-href.ts'
import type { SectionProps } from './section.ts'

export function Overview({ address, detail, docs, version }: SectionProps) {
  const { platforms = [] } = detail
  const source = addressOf({ ...detail, registryHost: boot.registryHost })
  return (
    <Section id="overview" words="Overview">
      <dl class="facts-list">
        <Fact words="Address">
          <code>{source}</code>
          <CopyButton text={source} what="address" />
        </Fact>
        <CodeFact words="Latest version" code={detail.latestVersion} />
        {docs !== undefined && <Needs address={address} docs={docs} version={version} />}
        <Fact words="Status">
          <SyncChip synced={detail.synced} />
          <Unsynced address={address} versions={detail.versions} />
        </Fact>
        <Fact words="Visibility">
          <Visibility isPublic={detail.public} />
        </Fact>
        {platforms.length > 0 && (
          <Fact words={`Platforms of ${version.shown}`}>
            {platforms.map((platform) => (
              <span key={platform} class="tag mono">
                {platform}
              </span>
            ))}
          </Fact>
        )}
        {detail.kind === 'module' && !detail.hasDocs && version.shown !== undefined && (
          <Fact words="Documentation">
            <span class="quiet">
              None of {version.shown}. The controller, depot sync and depot publish write it when
              they store an archive.
            </span>
          </Fact>
        )}
        {detail.repoUrl !== undefined && (
          <Fact words="Repository">
            <Repository url={detail.repoUrl} />
          </Fact>
        )}
        <Fact words="Downloads">
          <span>
            {number(detail.totalDownloads)}
            {detail.lastDownloadedAt !== undefined && (
              <>
                , last <TimeAgo at={detail.lastDownloadedAt} />
              </>
            )}
          </span>
        </Fact>
        <Fact words="Namespace">
          <a class="mono" href={resourcesHref({ namespace: [detail.namespace] })}>
            {detail.namespace}
          </a>
        </Fact>
      </dl>
    </Section>
  )
}

const mostNamed = 3

/** Versions of the CLI and of providers that the version needs. */
function Needs({
  address,
  docs: { root },
  version,
}: Pick<SectionProps, 'address' | 'version'> & { readonly docs: VersionDocs }) {
  const needs = [
    ...(root.requiredVersion === undefined ? [] : [['CLI', root.requiredVersion] as const]),
    ...root.providers.map((it) => [it.name, it.version ?? ''] as const),
  ]
  if (needs.length === 0) return null
  const shown = needs.slice(0, mostNamed)
  const href = resourceHref(address, {
    version: version.isLatest ? '' : (version.shown ?? ''),
    tab: 'dependencies',
  })
  return (
    <Fact words="Needs">
      {shown.map(([name, constraint], at) => (
        <span key={at}>
          {name} {constraint !== '' && <code>{constraint}</code>}
        </span>
      ))}
      {needs.length > shown.length && (
        <a href={href}>and {number(needs.length - shown.length)} more</a>
      )}
    </Fact>
  )
}

/** Links to the versions that are not in sync. */
function Unsynced({
  address,
  versions,
}: Pick<ResourceDetail, 'versions'> & Pick<SectionProps, 'address'>) {
  const unsynced = versions.filter(({ synced }) => !synced)
  if (unsynced.length === 0) return null
  const tab = address.kind === 'module' ? 'versions' : ''
  const listHref = (version: string): string =>
    `${resourceHref(address, { tab, v_q: version })}#versions`
  return (
    <span class="quiet">
      {number(unsynced.length)} of {plural(versions.length, 'version')} not in sync:{' '}
      {unsynced.slice(0, mostNamed).map(({ version }, at) => (
        <>
          {at > 0 && ', '}
          <a class="mono" href={listHref(version)}>
            {version}
          </a>
        </>
      ))}
      {unsynced.length > mostNamed && ` and ${number(unsynced.length - mostNamed)} more`}
    </span>
  )
}

function Repository({ url }: { readonly url: string }) {
  const href = safeHref(url)
  const words = url.replace(/^https?:\/\//, '')
  return href === undefined ? (
    <span class="mono">{words}</span>
  ) : (
    <a class="mono" href={href} rel="noopener noreferrer">
      {words}
    </a>
  )
}
