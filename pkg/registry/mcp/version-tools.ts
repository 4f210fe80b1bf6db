import * as z from 'zod'
import type { BrowseVersion } from '../../api/browse/browse.ts'
import { rankOf } from '../../api/findings/findings.ts'
import { mildest } from '../../api/lifecycle/lifecycle.ts'
import { itemsOf } from './page.ts'
import { moduleAddress, subjectOf, tool, version, word } from './tool.ts'

const anyAddress = word(
  'Address: namespace/name/system of a module or namespace/type of a provider, with or without the host in front.',
)
const kinds = ['Provider', 'Module'] as const

/** The largest page of the API. */
const pageSize = 100

const listVersions = tool({
  name: 'list_versions',
  title: 'List versions',
  description:
    'Lists the versions of a module or provider, newest first. Each has its platforms, downloads and findings, whether it is in sync, and why it is not served. Deprecated, yanked and quarantined versions have the reason and a replacement.',
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
    'Compares two versions of a module: what changed, and whether callers of the earlier version can use the later one unchanged. The verdict is breaking, unknown or compatible, for each change and for all of them.',
  input: z.strictObject({
    module: moduleAddress,
    from: word('Earlier version. Default: the previous release with documentation.').optional(),
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

const getFindings = tool({
  name: 'get_findings',
  title: 'Get scan findings',
  description:
    'Vulnerabilities and misconfigurations that scans found in a version of a module or provider, the worst first; packages with the version that fixes most of them; and the archives without a scan, which may have unknown findings. A provider has findings of its source and of its binaries.',
  input: z.strictObject({ address: anyAddress, version }),
  async answer(input, asked) {
    const { path, version: wanted } = subjectOf(asked, kinds, input.address, input.version)
    const found = await asked.questions.findings(asked.view, path, { version: wanted })
    const findings = found.scans
      .flatMap(({ in: part, platforms, findings: own }) =>
        own.map((it) => ({ ...it, in: part, platforms })),
      )
      .toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity))
    return {
      head: {
        address: input.address,
        version: found.version,
        wasScanned: found.scans.length > 0,
        unscanned: found.unscanned,
        findingCount: findings.length,
      },
      parts: [
        ...itemsOf(
          'packages',
          found.packages.filter(({ fixedIn }) => fixedIn !== undefined),
        ),
        ...itemsOf('findings', findings),
      ],
    }
  },
})

export const versionTools = [listVersions, compareVersions, getFindings]
