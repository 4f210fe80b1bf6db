import type { Finding } from '../../api/records.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { number, plural } from '../../parts/format.ts'
import { useMore } from '../../parts/more.tsx'
import { SeverityWord } from '../../parts/severity-counts.tsx'
import { Cell, CodeCell, RowHead, Table } from '../../parts/table.tsx'

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
