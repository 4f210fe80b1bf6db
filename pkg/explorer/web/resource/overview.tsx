import { boot } from '../api/boot.ts'
import type { ResourceDetail } from '../api/records.ts'
import { SyncChip, Visibility } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { CodeFact, Fact } from '../parts/fact.tsx'
import { number, plural } from '../parts/format.ts'
import { TimeAgo } from '../parts/time-ago.tsx'
import { resourcesHref } from '../url/pages.ts'
import { safeHref } from './safe-href.ts'
import { addressOf } from './snippets.ts'

interface Props {
  readonly detail: ResourceDetail
  /** Platforms of the version that is shown. */
  readonly platforms: readonly string[]
  readonly shown: string | undefined
}

export function Overview({ detail, platforms, shown }: Props) {
  const address = addressOf({ ...detail, registryHost: boot.registryHost })
  const unsynced = detail.versions.filter(({ synced }) => !synced).length
  return (
    <section class="sec" aria-labelledby="overview">
      <header>
        <h2 id="overview">Overview</h2>
      </header>
      <dl class="facts-list">
        <Fact words="Address">
          <code>{address}</code>
          <CopyButton text={address} what="address" />
        </Fact>
        <CodeFact words="Latest version" code={detail.latestVersion} />
        <Fact words="Status">
          <SyncChip synced={detail.synced} />
          {unsynced > 0 && (
            <span class="quiet">
              {number(unsynced)} of {plural(detail.versions.length, 'version')}{' '}
              {unsynced === 1 ? 'is' : 'are'} not in sync
            </span>
          )}
        </Fact>
        <Fact words="Visibility">
          <Visibility isPublic={detail.public} />
        </Fact>
        {platforms.length > 0 && (
          <Fact words={`Platforms of ${shown}`}>
            {platforms.map((platform) => (
              <span key={platform} class="tag mono">
                {platform}
              </span>
            ))}
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
    </section>
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
