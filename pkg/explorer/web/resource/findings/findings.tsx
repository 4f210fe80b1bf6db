import { useMemo } from 'preact/hooks'
import type { Finding, ScanFindings } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { plural } from '../../parts/format.ts'
import { IconButton } from '../../parts/icon.tsx'
import { NoMatchHere, Void } from '../../parts/message.tsx'
import { Pick } from '../../parts/pick.tsx'
import { Region } from '../../parts/region.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Section } from '../../parts/section.tsx'
import { severityOptions } from '../../parts/severity-counts.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { findingsUrl, type ResourceValues, resourceHref } from '../../url/pages.ts'
import type { SectionProps } from '../section.ts'
import { numberWords } from '../version-pick.tsx'
import { countOf, filterFindings } from './count.ts'
import { FindingsTable, Matrix, Upgrades } from './table.tsx'

/** Name of the source scan, next to the names of platforms. */
const source = 'source'

/** Findings of the chosen version. */
export function FindingsSection(props: SectionProps) {
  const { address, detail, version, change } = props
  const { shown = '' } = version
  const query = useQuery<ScanFindings>(findingsUrl(address, shown))
  const versions = useMemo(() => scannedVersions(query.data), [query.data])
  const end = (
    <>
      {versions.length > 1 && (
        <Pick
          label="Scanned version"
          value={shown}
          options={versions.map((it) => [it, numberWords(it, detail)] as const)}
          tinted={false}
          onChoose={(it) => change({ version: it === detail.latestVersion ? '' : it })}
        />
      )}
      <IconButton
        icon="refresh"
        words="Refresh findings"
        aria-busy={query.fetching}
        onClick={query.refetch}
      />
    </>
  )
  return (
    <Section id="findings" words="Findings" total={countOf(detail)} end={end}>
      <Region query={query} what="The findings" skeleton={6} resetHref={resourceHref(address)}>
        {(data) => <Scans {...props} data={data} />}
      </Region>
    </Section>
  )
}

/** Versions with a scan of any kind, newest first. Both lists are sorted that way. */
function scannedVersions(data: ScanFindings | undefined): string[] {
  const all = [...(data?.scannedVersions ?? []), ...(data?.binaryVersions ?? [])]
  const collator = new Intl.Collator('en', { numeric: true })
  return [...new Set(all)].toSorted((a, b) => collator.compare(b, a))
}

interface ScansProps extends SectionProps {
  readonly data: ScanFindings
}

function Scans({ data, address, detail, version, values, change }: ScansProps) {
  const scans = useMemo(() => scansOf(data), [data])
  if (scans.length === 0) {
    const anyScan = scannedVersions(data).length > 0
    return (
      <Void words="Not scanned">
        <p>
          {anyScan ? `${version.shown} has not` : 'No version has'} been scanned yet, which is not
          the same as clean.
        </p>
      </Void>
    )
  }
  const isProvider = detail.kind === 'provider'
  const chosen = scans.find(([name]) => name === values.f_platform) ?? scans[0]
  const [name, findings] = chosen ?? [source, []]
  return (
    <>
      <ScannedBy scan={data.oldestScan} />
      {isProvider && (
        <Matrix
          scans={scans}
          chosen={name}
          hrefOf={(platform) => resourceHref(address, { ...values, f_platform: platform })}
        />
      )}
      <List
        key={name}
        title={isProvider ? name : undefined}
        findings={findings}
        values={values}
        change={change}
      />
    </>
  )
}

/** A date, unless it is a text such as `embedded checks`. */
const isDate = (text: string): boolean => /^\d{4}-/.test(text)

/** When the archive was scanned, and the age of the database. A fresh scan with an old database misses much. */
function ScannedBy({ scan }: { readonly scan: ScanFindings['oldestScan'] }) {
  if (scan === undefined) return null
  const { scannedAt, scanner, database } = scan
  return (
    <p class="quiet scanned">
      Scanned {scannedAt ? <TimeAgo at={scannedAt} /> : 'at an unknown time'}
      {scanner && ` by ${scanner}`}
      {database && (isDate(database) ? ', database of ' : `, ${database}`)}
      {database && isDate(database) && <TimeAgo at={database} />}
    </p>
  )
}

/** Findings by scan: the source first, then platforms. */
function scansOf(data: ScanFindings): (readonly [string, readonly Finding[]])[] {
  const lists = data.binaryScanFindings ?? {}
  const shared = Object.entries(data.sameFindings ?? {}).map(
    ([platform, other]) => [platform, lists[other] ?? []] as const,
  )
  const binary = [...Object.entries(lists), ...shared].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const { selectedVersion, scannedVersions: all = [], sourceScanFindings = [] } = data
  const isScanned = selectedVersion !== undefined && all.includes(selectedVersion)
  return isScanned ? [[source, sourceScanFindings], ...binary] : binary
}

interface ListProps {
  readonly title: string | undefined
  readonly findings: readonly Finding[]
  readonly values: ResourceValues
  readonly change: SectionProps['change']
}

function List({ title, findings, values, change }: ListProps) {
  const { f_severity: severity, f_q: text, f_fix } = values
  const fixable = f_fix === 'true'
  const shown = useMemo(
    () => filterFindings(findings, { severity, text, fixable }),
    [findings, severity, text, fixable],
  )
  const anyFix = findings.some(({ fixedVersion = '' }) => fixedVersion !== '')
  if (findings.length === 0) return <p class="quiet mt">No findings</p>
  return (
    <>
      {title !== undefined && (
        <h3 class="mt" id="findings-of-platform">
          {title}, {plural(findings.length, 'finding')}
        </h3>
      )}
      <Upgrades findings={findings} />
      <search class="filters" aria-label="Filter findings">
        <SearchField
          label="Search findings"
          placeholder="Search id, package or title"
          value={text}
          onSearch={(it) => change({ f_q: it }, 'replace')}
        />
        <Pick
          label="Severity of findings"
          value={severity}
          options={severityOptions}
          onChoose={(it) => change({ f_severity: it })}
        />
        {anyFix && (
          <label class="check">
            <input
              type="checkbox"
              checked={fixable}
              onChange={(event) => change({ f_fix: event.currentTarget.checked ? 'true' : '' })}
            />
            Fix available
          </label>
        )}
      </search>
      <div class="gap" />
      {shown.length === 0 ? (
        <NoMatchHere onClear={() => change({ f_q: '', f_severity: '', f_fix: '' })} />
      ) : (
        <FindingsTable findings={shown} of={title} total={findings.length} />
      )}
    </>
  )
}
