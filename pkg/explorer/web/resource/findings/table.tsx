import { useState } from 'preact/hooks'
import type { Finding } from '../../api/records.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { number, plural } from '../../parts/format.ts'
import { SeverityWord } from '../../parts/severity-counts.tsx'
import { Cell, CodeOrNone, type Head, RowHead, Table } from '../../parts/table.tsx'

const first = 20
/** Rows that each click adds. */
const slice = 200

interface Props {
  readonly findings: readonly Finding[]
  /** The platform, if there are several. */
  readonly of: string | undefined
  /** Number before filtering. */
  readonly total: number
}

/** Columns that would be empty in every row are not drawn. */
export function FindingsTable({ findings, of, total }: Props) {
  const [most, setMost] = useState(first)
  const has = {
    pkgName: findings.some(({ pkgName }) => pkgName !== ''),
    installed: findings.some(({ installedVersion }) => installedVersion !== ''),
    fixed: findings.some(({ fixedVersion = '' }) => fixedVersion !== ''),
  }
  const isPackage = has.installed || has.fixed
  const heads: Head[] = [
    { words: isPackage ? 'Id' : 'Rule' },
    { words: 'Severity' },
    ...(has.pkgName ? [{ words: isPackage ? 'Package' : 'Where' }] : []),
    ...(has.installed ? [{ words: 'Installed' }] : []),
    ...(isPackage ? [{ words: 'Fixed in' }] : []),
    { words: 'What' },
  ]
  const shown = findings.slice(0, most)
  const left = findings.length - shown.length
  return (
    <>
      <Table label={of === undefined ? 'Findings' : `Findings of ${of}`} heads={heads}>
        {shown.map((finding, at) => (
          <tr key={`${finding.vulnerabilityID} ${finding.pkgName} ${at}`} role="row">
            <RowHead class="full">
              <span class="finding-id">
                <code>{finding.vulnerabilityID || 'no id'}</code>
                {finding.vulnerabilityID !== '' && (
                  <CopyButton text={finding.vulnerabilityID} what={finding.vulnerabilityID} />
                )}
              </span>
            </RowHead>
            <Cell>
              <SeverityWord severity={finding.severity} />
            </Cell>
            {has.pkgName && (
              <Cell class="full">
                <code class="wrap">{finding.pkgName}</code>
              </Cell>
            )}
            {has.installed && (
              <Cell label="Installed">
                <CodeOrNone text={finding.installedVersion} />
              </Cell>
            )}
            {isPackage && (
              <Cell label="Fixed in">
                {(finding.fixedVersion ?? '') === '' ? (
                  <span class="quiet">No fix yet</span>
                ) : (
                  <code>{finding.fixedVersion}</code>
                )}
              </Cell>
            )}
            <Cell class="full what">{finding.title}</Cell>
          </tr>
        ))}
      </Table>
      <div class="foot">
        <span role="status">
          {findings.length === total
            ? `${number(shown.length)} of ${plural(total, 'finding')}`
            : `${number(shown.length)} of ${number(findings.length)} that match, ${plural(total, 'finding')} in all`}
        </span>
        {left > 0 && (
          <button type="button" class="btn" onClick={() => setMost(most + slice)}>
            {left <= slice ? `Show all ${number(findings.length)}` : `Show ${slice} more`}
          </button>
        )}
      </div>
    </>
  )
}
