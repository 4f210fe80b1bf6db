import type { BrowseStats } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { bytes, number, percent, plural } from '../parts/format.ts'
import { NamespacePick } from '../parts/namespace-pick.tsx'
import { Region } from '../parts/region.tsx'
import { Section } from '../parts/section.tsx'
import { ranks } from '../parts/severity-counts.tsx'
import { Bone, Lines } from '../parts/skeleton.tsx'
import { ThinBar } from '../parts/thin-bar.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { navigate } from '../url/navigate.ts'
import {
  type ResourcesValues,
  resourcesHref,
  severities,
  statsHref,
  statsParams,
  statsUrl,
} from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { SyncBar } from './bars.tsx'
import { MostDownloaded } from './most-downloaded.tsx'

/** Totals of everything that the caller may see. */
export function StatsPage({ search }: { readonly search: URLSearchParams }) {
  const { namespace } = parse(statsParams, search)
  const stats = useQuery<BrowseStats>(statsUrl(namespace))
  return (
    <>
      <PageHead title="Stats">
        <span class="end">
          <NamespacePick value={namespace} onChoose={(name) => navigate(statsHref(name))} />
        </span>
      </PageHead>
      <Region query={stats} what="The statistics" skeleton={<Skeleton />} resetHref={statsHref()}>
        {(data) => <Numbers stats={data} namespace={namespace} />}
      </Region>
    </>
  )
}

interface Props {
  readonly stats: BrowseStats
  readonly namespace: string
}

function Numbers({ stats, namespace }: Props) {
  const { syncHealth: sync } = stats
  const listed = (values: Partial<ResourcesValues>): string =>
    resourcesHref({ ...values, namespace: namespace === '' ? [] : [namespace] })
  const byVersion = listed({ sort_by: 'latestVersion', sort_dir: 'desc' })
  const versions = sync.syncedVersions + sync.unsyncedVersions + sync.failedVersions
  return (
    <>
      <div class="figures">
        <Figure words="Modules" href={listed({ kind: 'module' })}>
          {number(stats.totalModules)}
        </Figure>
        <Figure words="Providers" href={listed({ kind: 'provider' })}>
          {number(stats.totalProviders)}
        </Figure>
        <Figure words="Versions" href={byVersion}>
          {number(stats.totalVersions)}
        </Figure>
        <Figure words="Storage" title={plural(stats.totalStorageBytes, 'byte')} href={listed({})}>
          {bytes(stats.totalStorageBytes)}
        </Figure>
        <Figure words="Downloads" href={listed({ sort_by: 'totalDownloads', sort_dir: 'desc' })}>
          {number(stats.totalDownloads)}
        </Figure>
      </div>
      <div class="two">
        <div>
          <section class="sec" aria-labelledby="sync">
            <header>
              <h2 id="sync">Sync health</h2>
              <a class="quiet" href={byVersion}>
                {plural(versions, 'version')}
              </a>
            </header>
            <SyncBar sync={sync} />
            <div class="legend">
              <a href={listed({ synced: 'true' })}>
                <i class="key ok" />
                {number(sync.syncedVersions)} synced{' '}
                <span>{percent(sync.syncedVersions, versions)}</span>
              </a>
              <a href={listed({ synced: 'false' })}>
                <i class="key wait" />
                {number(sync.unsyncedVersions)} not synced{' '}
                <span>{percent(sync.unsyncedVersions, versions)}</span>
              </a>
              <a href={listed({ sort_by: 'synced' })}>
                <i class="key fail" />
                {number(sync.failedVersions)} failed{' '}
                <span>{percent(sync.failedVersions, versions)}</span>
              </a>
            </div>
          </section>
          <Posture stats={stats} listed={listed} />
        </div>
        <Backends stats={stats} href={listed({})} />
      </div>
      <MostDownloaded rows={stats.mostDownloaded} />
    </>
  )
}

interface FigureProps {
  readonly words: string
  readonly href: string
  readonly title?: string
  readonly children: preact.ComponentChildren
}

const Figure = ({ words, href, title, children }: FigureProps) => (
  <a href={href} title={title}>
    <span class="l">{words}</span>
    <b>{children}</b>
  </a>
)

function Posture(props: {
  readonly stats: BrowseStats
  readonly listed: (values: Partial<ResourcesValues>) => string
}) {
  const posture = props.stats.securityPosture
  return (
    <section class="sec" aria-labelledby="posture">
      <header>
        <h2 id="posture">Security posture</h2>
        <a class="quiet" href={props.listed({ severity: 'LOW' })}>
          {plural(posture.totalAffectedResources, 'resource')} affected
        </a>
      </header>
      <div class="posture">
        {ranks.map(({ key, tone }) => {
          const severity = severities.find((it) => it === key.toUpperCase())
          return (
            <a
              key={key}
              class={posture[key] === 0 ? 'none' : tone}
              href={props.listed(
                severity === undefined ? { sort_by: 'severity', sort_dir: 'desc' } : { severity },
              )}
            >
              {key.toUpperCase()} <b>{number(posture[key])}</b>
            </a>
          )
        })}
      </div>
    </section>
  )
}

/** The list has no storage filter, so the links lead to the whole list. */
function Backends({ stats, href }: { readonly stats: BrowseStats; readonly href: string }) {
  const most = Math.max(1, ...stats.storageDistribution.map(({ count }) => count))
  return (
    <Section id="storage" words="Storage backends" about="resources in each">
      {stats.storageDistribution.length === 0 ? (
        <p class="quiet">No resource names a storage backend.</p>
      ) : (
        <dl class="rows">
          {stats.storageDistribution.map(({ backend, count }) => (
            <div key={backend}>
              <dt>
                <code>{backend}</code>
              </dt>
              <dd>
                <ThinBar share={count / most} />
                <a class="num" href={href}>
                  {number(count)}
                </a>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  )
}

const Skeleton = () => (
  <>
    <div class="figures">
      {['Modules', 'Providers', 'Versions', 'Storage', 'Downloads'].map((words) => (
        <div key={words}>
          <span class="l">{words}</span>
          <b>
            <Bone width="w3" tall />
          </b>
        </div>
      ))}
    </div>
    <div class="sec">
      <Lines count={8} />
    </div>
  </>
)
