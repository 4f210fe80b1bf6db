import * as z from 'zod'
import type { BrowseVersion, ScanFindings } from '../../api/browse/browse.ts'
import { mildest } from '../../api/lifecycle/lifecycle.ts'
import { itemsOf } from './page.ts'
import { moduleAddress, subjectOf, tool, version, word } from './tool.ts'

const anyAddress = word(
  'Address: namespace/name/system of a module or namespace/type of a provider, with or without the host before.',
)
const kinds = ['Provider', 'Module'] as const

/** The largest page of the API. */
const pageSize = 100

const listVersions = tool({
  name: 'list_versions',
  title: 'List versions',
  description:
    'Versions of a module or provider, newest first: whether each is in sync, its platforms, downloads and findings, why it is not served if it is not, and its lifecycle if it is deprecated, yanked or quarantined, with what to take instead.',
  input: z.strictObject({ address: anyAddress }),
  async answer({ address, cursor }, asked) {
    const { path } = subjectOf(asked, kinds, address)
    const page = Math.floor(cursor / pageSize) + 1
    const query = { by: 'version', page: String(page), page_size: String(pageSize) }
    const { items, totalCount, versionScanCounts } = await asked.questions.versions(
      asked.view,
      path,
      query,
    )
    const versions = Array.from(
      Map.groupBy(items, (it) => it.version),
      ([number, archives]) => ({
        ...versionOf(number, archives),
        scanCounts: versionScanCounts?.[number],
      }),
    )
    return {
      head: { address, kind: path.kind, totalCount },
      parts: itemsOf('versions', versions),
      offset: (page - 1) * pageSize,
      total: totalCount,
    }
  },
})

function versionOf(number: string, all: readonly BrowseVersion[]) {
  const originals = all.filter(({ reason }) => reason !== 'Duplicate')
  const archives = originals.length > 0 ? originals : all
  const unserved = archives.find(({ reason }) => reason !== undefined)
  const platforms = archives.flatMap(({ os, arch }) => (os === undefined ? [] : [`${os}/${arch}`]))
  const downloads = archives.reduce((sum, { downloadCount = 0 }) => sum + downloadCount, 0)
  return {
    version: number,
    synced: archives.every(({ synced }) => synced),
    ...(platforms.length > 0 && { platforms: [...new Set(platforms)] }),
    downloadCount: downloads,
    reason: unserved?.reason,
    message: unserved?.message,
    lifecycle: mildest(archives),
  }
}

const compareVersions = tool({
  name: 'compare_versions',
  title: 'Compare two versions of a module',
  description:
    'What changed between two versions of a module, and whether callers of the earlier one can take the later one unchanged: breaking, unknown or compatible, for the whole and for each change.',
  input: z.strictObject({
    module: moduleAddress,
    from: word('Earlier version. Default: the one before the later version.').optional(),
    to: word('Later version. Default: the latest.').optional(),
  }),
  async answer({ module, from, to }, asked) {
    const { path } = subjectOf(asked, ['Module'], module)
    const { changes, dependencies, ...head } = await asked.questions.comparison(asked.view, path, {
      from,
      to,
    })
    return {
      head: { module, ...head, changeCount: changes.length },
      parts: [...itemsOf('changes', changes), ...itemsOf('dependencies', dependencies)],
    }
  },
})

const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN']

const getFindings = tool({
  name: 'get_findings',
  title: 'Get scan findings',
  description:
    'Vulnerabilities and misconfigurations that scans found in a version of a module or provider, the worst first. A provider has findings of its source and of its binaries.',
  input: z.strictObject({ address: anyAddress, version }),
  async answer(input, asked) {
    const subject = subjectOf(asked, kinds, input.address, input.version)
    const { path, version: wanted = subject.latestVersion } = subject
    const found = await asked.questions.findings(asked.view, path, {
      version: wanted,
      binaryVersion: path.kind === 'provider' ? wanted : undefined,
      shared: 'true',
    })
    const { scannedVersions = [], binaryVersions = [] } = found
    const findings = [
      ...(found.sourceScanFindings ?? []).map((it) => ({ ...it, in: 'source' })),
      ...binaryFindings(found),
    ]
    const rank = ({ severity }: { severity: string }) => severities.indexOf(severity) + 1 || 9
    return {
      head: {
        address: input.address,
        version: wanted,
        wasScanned: [...scannedVersions, ...binaryVersions].some((it) => it === wanted),
        findingCount: findings.length,
      },
      parts: itemsOf(
        'findings',
        findings.toSorted((a, b) => rank(a) - rank(b)),
      ),
    }
  },
})

/** Findings of each list once, with the platforms that share the list. */
function binaryFindings({ binaryScanFindings = {}, sameFindings = {} }: ScanFindings) {
  return Object.entries(binaryScanFindings).flatMap(([platform, findings]) => {
    const same = Object.keys(sameFindings).filter((other) => sameFindings[other] === platform)
    const platforms = [platform, ...same]
    return findings.map((it) => ({ ...it, in: 'binary', platforms }))
  })
}

export const versionTools = [listVersions, compareVersions, getFindings]
