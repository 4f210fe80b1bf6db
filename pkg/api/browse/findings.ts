import * as z from 'zod'
import { list, optionalText, optionalTexts, text } from '../schema/schema.ts'
import {
  binaryScanFindings,
  component,
  components,
  mark,
  SecurityFinding,
  sourceScanFindings,
  tally,
} from './parts.ts'

const scannedBy = {
  scannedAt: z.string().optional(),
  scanner: optionalText('Scanner and its version, if known.'),
  database: optionalText('When its database was made, or what it consists of.'),
}

export const ScanFindings = component('ScanFindings', {
  sourceScanFindings: sourceScanFindings.optional(),
  binaryScanFindings: binaryScanFindings.optional(),
  sameFindings: z
    .record(z.string(), z.string())
    .optional()
    .describe('With `shared`: platforms without a list, and the platform with the same one.'),
  selectedVersion: optionalText('Whose source scan is shown.'),
  scannedVersions: optionalTexts('With a source scan, newest first.'),
  binaryVersions: optionalTexts('With a binary scan, newest first; providers only.'),
  oldestScan: z
    .strictObject(scannedBy)
    .optional()
    .describe('The oldest of the scans that are shown.'),
})
export type ScanFindings = z.infer<typeof ScanFindings>

const PackageFindings = component('PackageFindings', {
  pkgName: text('Package, or resource of a module.'),
  installedVersion: text('Version in use; empty if there is none.'),
  severity: text('Of the worst finding.'),
  findings: tally,
  fixedIn: optionalText('The lowest version that closes as many findings as any other.'),
  closes: tally.optional().describe('Number of findings that `fixedIn` closes.'),
})

export const VersionFindings = component('VersionFindings', {
  address: text('`namespace/name/system` or `namespace/type`.'),
  version: z.string(),
  scans: list(
    z.strictObject({
      in: z.enum(['source', 'binary']),
      platforms: optionalTexts('`os/arch` of the archives with these findings; binaries only.'),
      ...scannedBy,
      truncated: mark('Present if the mildest findings are missing, because there were too many.'),
      findings: z.array(SecurityFinding),
    }),
    'Of the source, and of the binaries of providers: equal findings are one item.',
  ),
  unscanned: list(
    z.string(),
    'What nobody scanned: `source` of a module, or of a provider, unless its repository is not known or has no go.mod; `os/arch` of a provider.',
  ),
  packages: list(PackageFindings, 'All findings by package, the worst first.'),
})
export type VersionFindings = z.infer<typeof VersionFindings>

const foreign = (what: string) =>
  z.looseObject({ version: z.union([z.string(), z.int()]) }).describe(what)

export const FindingsAnswer = z
  .union([VersionFindings, foreign('A SARIF 2.1.0 log, or a CycloneDX 1.6 document.')])
  .register(components, { id: 'FindingsAnswer' })
