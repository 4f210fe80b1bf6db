import { useMemo } from 'preact/hooks'
import { packagesOf } from '../../../../api/findings/findings.ts'
import type { Finding } from '../../api/records.ts'
import { number, plural } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { SeverityWord } from '../../parts/severity-counts.tsx'
import { Cell, CodeCell, RowHead, Table } from '../../parts/table.tsx'

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
