import { useMemo } from 'preact/hooks'
import { packagesOf } from '../../../../api/findings/findings.ts'
import type { Finding } from '../../api/records.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { number, plural } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useMore } from '../../parts/more.tsx'
import { ranks, SeverityWord } from '../../parts/severity-counts.tsx'
import { Cell, CodeCell, NumberCell, RowHead, Table } from '../../parts/table.tsx'
import { countsOf } from './count.ts'

interface Props {
  readonly findings: readonly Finding[]
  /** The platform, if there are several. */
  readonly of: string | undefined
  /** Number before filtering. */
  readonly total: number
}

/** Columns that would be empty in every row are hidden. */
function columnsOf(findings: readonly Finding[]) {
  const hasPkgName = findings.some(({ pkgName }) => pkgName !== '')
  const hasInstalled = findings.some(({ installedVersion }) => installedVersion !== '')
  const isPackage = hasInstalled || findings.some(({ fixedVersion }) => fixedVersion)
  const heads = [
    isPackage ? 'Id' : 'Rule',
    'Severity',
    ...(hasPkgName ? [isPackage ? 'Package' : 'Where'] : []),
    ...(hasInstalled ? ['Installed'] : []),
    ...(isPackage ? ['Fixed in'] : []),
    'What',
  ]
  return { hasPkgName, hasInstalled, isPackage, heads }
}

export function FindingsTable({ findings, of, total }: Props) {
  const columns = columnsOf(findings)
  const { shown, more } = useMore(findings, { first: 20, step: 200 })
  return (
    <>
      <Table label={of === undefined ? 'Findings' : `Findings of ${of}`} heads={columns.heads}>
        {shown.map((finding, at) => (
          <Row
            key={`${finding.vulnerabilityID} ${finding.pkgName} ${at}`}
            finding={finding}
            columns={columns}
          />
        ))}
      </Table>
      <div class="foot">
        <span role="status">
          {findings.length === total
            ? `${number(shown.length)} of ${plural(total, 'finding')}`
            : `${number(shown.length)} of ${number(findings.length)} that match, ${plural(total, 'finding')} in all`}
        </span>
        {more}
      </div>
    </>
  )
}

interface RowProps {
  readonly finding: Finding
  readonly columns: ReturnType<typeof columnsOf>
}

function Row({ finding, columns }: RowProps) {
  const { vulnerabilityID: id, pkgName, installedVersion, fixedVersion, severity, title } = finding
  return (
    <tr role="row">
      <RowHead class="full">
        <span class="finding-id">
          <code>{id || 'no id'}</code>
          {id !== '' && <CopyButton text={id} what={id} />}
        </span>
      </RowHead>
      <Cell>
        <SeverityWord severity={severity} />
      </Cell>
      {columns.hasPkgName && (
        <Cell class="full">
          <code class="wrap">{pkgName}</code>
        </Cell>
      )}
      {columns.hasInstalled && <CodeCell label="Installed" text={installedVersion} />}
      {columns.isPackage && (
        <Cell label="Fixed in">
          {fixedVersion ? <code>{fixedVersion}</code> : <span class="quiet">No fix yet</span>}
        </Cell>
      )}
      <Cell class="full what">{title}</Cell>
    </tr>
  )
}

interface MatrixProps {
  readonly scans: readonly (readonly [name: string, findings: readonly Finding[]])[]
  readonly chosen: string
  readonly hrefOf: (name: string) => string
}

/** Number of findings by platform and severity. The head of a row chooses the list below. */
export const Matrix = ({ scans, chosen, hrefOf }: MatrixProps) => (
  <Table
    label="Findings by platform"
    look="stack flow"
    heads={[
      'Platform',
      ...ranks.map(({ word }) => ({ words: word, class: 'num' })),
      { words: 'All', class: 'num' },
    ]}
  >
    {scans.map(([name, findings]) => {
      const counts = countsOf(findings)
      return (
        <tr key={name} role="row" class={name === chosen ? 'on' : undefined}>
          <RowHead class="full">
            <a href={hrefOf(name)} aria-current={name === chosen ? 'true' : undefined} data-keep>
              <code>{name}</code>
            </a>
          </RowHead>
          {ranks.map(({ key, word, tone }) => (
            <Cell key={key} label={word} class="num">
              <span class="sev">
                <span class={counts[key] === 0 ? 'nil zero' : tone}>{number(counts[key])}</span>
              </span>
            </Cell>
          ))}
          <NumberCell label="All" value={findings.length} />
        </tr>
      )
    })}
  </Table>
)

const heads = ['Package', 'Worst', 'Installed', 'Upgrade to', { words: 'Closes', class: 'num' }]

/** Packages with the version that fixes most of their findings. */
export function Upgrades({ findings }: { readonly findings: readonly Finding[] }) {
  const upgrades = useMemo(
    () => packagesOf(findings).filter(({ fixedIn }) => fixedIn !== undefined),
    [findings],
  )
  if (upgrades.length === 0) return null
  const closed = upgrades.reduce((sum, { closes = 0 }) => sum + closes, 0)
  return (
    <details class="fold upgrades">
      <summary>
        <Icon name="right" />
        {plural(upgrades.length, 'upgrade')} can close {number(closed)} of{' '}
        {plural(findings.length, 'finding')}
      </summary>
      <Table label="Upgrades" heads={heads}>
        {upgrades.map(({ pkgName, installedVersion, severity, fixedIn, closes, findings: all }) => (
          <tr key={`${pkgName} ${installedVersion}`} role="row">
            <RowHead class="full">
              <code class="wrap">{pkgName}</code>
            </RowHead>
            <Cell label="Worst">
              <SeverityWord severity={severity} />
            </Cell>
            <CodeCell label="Installed" text={installedVersion} />
            <CodeCell label="Upgrade to" text={fixedIn} />
            <Cell label="Closes" class="num">
              {number(closes ?? 0)} of {number(all)}
            </Cell>
          </tr>
        ))}
      </Table>
    </details>
  )
}
