import { noticesOf } from './sarif.ts'
import { distinctFindings, type ScanReport } from './scan-report.ts'
import { packageKey, packagesOf } from './upgrades.ts'

/** The findings for people: by package, the worst first. */
export function findingsText(report: ScanReport): string {
  const all = distinctFindings(report)
  const byPackage = Map.groupBy(all, ({ finding }) => packageKey(finding))
  const packages = packagesOf(all.map(({ finding }) => finding))
  const lines = packages.flatMap((found) => {
    const { pkgName, installedVersion, fixedIn, closes } = found
    const upgrade = fixedIn === undefined ? '' : `, upgrading to ${fixedIn} closes ${closes}`
    const own = byPackage.get(packageKey(found)) ?? []
    return [
      `${[pkgName, installedVersion].filter(Boolean).join(' ') || report.address}: ${plural(own.length, 'finding')}${upgrade}`,
      ...own.map(
        ({ finding: { severity, vulnerabilityID, title }, places }) =>
          `  ${severity} ${vulnerabilityID} ${title} (${places.join('; ')})`,
      ),
    ]
  })
  const notices = noticesOf(report).map(([level, text]) => `${level}: ${text}`)
  const sum = report.scans.length === 0 ? 'not scanned' : plural(all.length, 'finding')
  const whole = `${report.address} ${report.version}: ${sum}`
  return `${[...lines, ...notices, whole].join('\n')}\n`
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
