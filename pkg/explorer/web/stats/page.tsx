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
import { MostDownloaded } from './most-downloaded.tsx'

/** Totals of everything that the caller may see. */
export function StatsPage({ search }: { readonly search: URLSearchParams }) {
  const { namespace } = parse(statsParams, search)
  const stats = useQuery<BrowseStats>(statsUrl({ namespace }))
  return (
    <>
      <PageHead title="Stats">
        <span class="end">
          <NamespacePick
            value={namespace}
            onChoose={(name) => navigate(statsHref({ namespace: name }))}
          />
        </span>
      </PageHead>
      <Region query={stats} what="The statistics" skeleton={<Skeleton />} resetHref={statsHref()}>
        {(data) => <Numbers stats={data} namespace={namespace} />}
      </Region>
    </>
  )
}

const byVersion = { sort_by: 'latestVersion', sort_dir: 'desc' } as const

interface Props {
  readonly stats: BrowseStats
  readonly namespace: string
}

function Numbers({ stats, namespace }: Props) {
  const listed: PartProps['listed'] = (values) =>
    resourcesHref({ ...values, namespace: namespace === '' ? [] : [namespace] })
  const byDownloads = { sort_by: 'totalDownloads', sort_dir: 'desc' } as const
  const figures = [
    ['Modules', stats.totalModules, listed({ kind: 'module' })],
    ['Providers', stats.totalProviders, listed({ kind: 'provider' })],
    ['Versions', stats.totalVersions, listed(byVersion)],
    ['Storage', stats.totalStorageBytes, listed({})],
    ['Downloads', stats.totalDownloads, listed(byDownloads)],
  ] as const
  return (
    <>
      <div class="figures">
        {figures.map(([words, count, href]) => (
          <a
            key={words}
            href={href}
            title={words === 'Storage' ? plural(count, 'byte') : undefined}
          >
            <span class="l">{words}</span>
            <b>{words === 'Storage' ? bytes(count) : number(count)}</b>
          </a>
        ))}
      </div>
      <div class="two">
        <div>
          <SyncHealth stats={stats} listed={listed} />
          <Posture stats={stats} listed={listed} />
        </div>
        <Backends stats={stats} href={listed({})} />
      </div>
      <MostDownloaded rows={stats.mostDownloaded} />
    </>
  )
}

interface PartProps extends Pick<Props, 'stats'> {
  /** URL of the list of resources with these filters. */
  readonly listed: (values: Partial<ResourcesValues>) => string
}

function SyncHealth({ stats: { syncHealth: sync }, listed }: PartProps) {
  const versions = sync.syncedVersions + sync.unsyncedVersions + sync.failedVersions
  const parts = [
    ['ok', sync.syncedVersions, 'synced', listed({ synced: 'true' })],
    ['wait', sync.unsyncedVersions, 'not synced', listed({ synced: 'false' })],
    ['fail', sync.failedVersions, 'failed', listed({ sort_by: 'synced' })],
  ] as const
  const about = (
    <a class="quiet" href={listed(byVersion)}>
      {plural(versions, 'version')}
    </a>
  )
  return (
    <Section id="sync" words="Sync health" about={about}>
      <SyncBar sync={sync} />
      <div class="legend">
        {parts.map(([tone, count, words, href]) => (
          <a key={tone} href={href}>
            <i class={`key ${tone}`} />
            {number(count)} {words} <span>{percent(count, versions)}</span>
          </a>
        ))}
      </div>
    </Section>
  )
}

function Posture({ stats: { securityPosture: posture }, listed }: PartProps) {
  const about = (
    <a class="quiet" href={listed({ severity: 'LOW' })}>
      {plural(posture.totalAffectedResources, 'resource')} affected
    </a>
  )
  return (
    <Section id="posture" words="Security posture" about={about}>
      <div class="posture">
        {ranks.map(({ key, tone }) => {
          const severity = severities.find((it) => it === key.toUpperCase())
          return (
            <a
              key={key}
              class={posture[key] === 0 ? 'none' : tone}
              href={listed(
                severity === undefined ? { sort_by: 'severity', sort_dir: 'desc' } : { severity },
              )}
            >
              {key.toUpperCase()} <b>{number(posture[key])}</b>
            </a>
          )
        })}
      </div>
    </Section>
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

/* Bars are SVG with width attributes, because the policy of the page forbids inline styles. Text shows the numbers. */

const whole = 1000
const gap = 3

function SyncBar({ sync }: { readonly sync: BrowseStats['syncHealth'] }) {
  const parts = [
    { count: sync.syncedVersions, tone: 'f' },
    { count: sync.unsyncedVersions, tone: 'f-wait' },
    { count: sync.failedVersions, tone: 'f-fail' },
  ].filter(({ count }) => count > 0)
  const total = parts.reduce((sum, { count }) => sum + count, 0)
  const room = whole - gap * (parts.length - 1)
  let x = 0
  return (
    <svg class="bar" viewBox={`0 0 ${whole} 12`} preserveAspectRatio="none" aria-hidden="true">
      {total === 0 && <rect class="track" width={whole} height="12" />}
      {parts.map(({ count, tone }) => {
        const width = Math.max(4, (count / total) * room)
        const left = x
        x += width + gap
        return <rect key={tone} class={tone} x={left} width={width} height="12" />
      })}
    </svg>
  )
}
