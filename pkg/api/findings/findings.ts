/** Results of the scans of a version: by package with the upgrade that closes most findings, as text, SARIF and CycloneDX. */

export { cycloneDxOf } from './cyclonedx.ts'
export { findingsText } from './findings-text.ts'
export { sarifOf } from './sarif.ts'
export { distinctFindings, isAtLeast, type ScanReport } from './scan-report.ts'
export { packagesOf, rankOf, type Severity, severities } from './upgrades.ts'
