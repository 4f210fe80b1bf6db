import { noticesOf } from './sarif.ts'
import { distinctFindings, type ScanReport } from './scan-report.ts'
import { rankOf, severities } from './upgrades.ts'

/**
 * The packages with findings, and their vulnerabilities. The list of packages is never complete: those without findings are
 * unknown.
 *
 * @see https://cyclonedx.org/docs/1.6/json/
 */
export function cycloneDxOf(report: ScanReport) {
  const all = distinctFindings(report)
  const whole = `${report.address}@${report.version}`
  const refOf = ({ pkgName, installedVersion }: { pkgName: string; installedVersion: string }) =>
    pkgName === '' ? whole : `${whole}#${pkgName}@${installedVersion}`
  const packages = new Map(
    all
      .filter(({ finding }) => finding.pkgName !== '')
      .map(({ finding }) => [refOf(finding), finding]),
  )
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      tools: { components: [{ type: 'application', name: 'Depot' }] },
      component: {
        type: 'application',
        'bom-ref': whole,
        name: report.address,
        version: report.version,
      },
      properties: noticesOf(report).map(([level, value]) => ({ name: `depot:${level}`, value })),
    },
    components: Array.from(packages, ([ref, { pkgName, installedVersion }]) => ({
      type: 'library',
      'bom-ref': ref,
      name: pkgName,
      ...(installedVersion !== '' && { version: installedVersion }),
    })),
    compositions: [{ aggregate: 'incomplete', assemblies: [whole] }],
    vulnerabilities: all.map(({ finding, places }) => ({
      id: finding.vulnerabilityID,
      ratings: [{ severity: severities[rankOf(finding.severity)]?.toLowerCase() }],
      ...(finding.title !== '' && { description: finding.title }),
      ...(finding.fixedVersion && { recommendation: `Upgrade to ${finding.fixedVersion}` }),
      affects: [{ ref: refOf(finding) }],
      properties: places.map((value) => ({ name: 'depot:archive', value })),
    })),
  }
}
