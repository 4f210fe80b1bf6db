import { Hono } from 'hono'
import { normalizeVersion } from '../apis/v1alpha1/v1alpha1.ts'
import { compareText, type Parent, type VersionRow } from '../catalog/catalog.ts'
import { notFound } from '../errors/errors.ts'
import { baseUrlOf } from './base-url.ts'
import { rememberPackages } from './remembered-packages.ts'
import {
  findProvider,
  guard,
  json,
  kept,
  note,
  type RegistryEnv,
  type RegistryOptions,
  requireSigner,
  type Signer,
} from './routes.ts'

/** Versions of the plugin protocol that a provider speaks if it does not say. */
const defaultProtocols: readonly string[] = ['5.0']

/** The provider registry protocol, but for archives, checksums and signatures. */
export function providerRoutes(options: RegistryOptions): Hono<RegistryEnv> {
  const { catalog } = options
  const app = new Hono<RegistryEnv>()
  const signingKeys = rememberSigningKeys()
  const remembered = rememberPackages()

  app.get('/:namespace/:type/versions', (c) => {
    const { namespace, type } = c.req.param()
    const subject = { namespace, kind: 'Provider' as const, name: type }
    note(c, '/depot/providers/v1/:namespace/:type/versions', subject)
    return guard(c, options, subject, () => {
      const provider = findProvider(catalog, namespace, type)
      return json(provider.memo('versions', () => kept(versionList(provider))))
    })
  })

  app.get('/:namespace/:type/:version/download/:os/:arch', (c) => {
    const { namespace, type, os, arch } = c.req.param()
    const version = normalizeVersion(c.req.param('version'))
    const subject = { namespace, kind: 'Provider' as const, name: type, version }
    note(c, '/depot/providers/v1/:namespace/:type/:version/download/:os/:arch', subject)
    return guard(c, options, subject, () => {
      const provider = findProvider(catalog, namespace, type)
      const row = findPlatform(provider, version, os, arch)
      const signer = requireSigner(options.signer)
      const baseUrl = baseUrlOf(c, options)
      const metadata = remembered(provider, row, baseUrl, signer, () =>
        packageMetadata(provider, row, baseUrl, signingKeys(signer)),
      )
      return json(metadata)
    })
  })

  return app
}

/** The rows of a provider version that can be downloaded, one a platform, or 404. */
export function platformsOf(provider: Parent, version: string): readonly VersionRow[] {
  const rows = provider.rowsOf(version)
  const address = `provider ${provider.namespace}/${provider.name}`
  if (rows[0] === undefined) {
    throw notFound(`${address} has no version ${version}: see its list of versions`)
  }
  const downloadable = onePerPlatform(rows)
  if (downloadable.length > 0) return downloadable
  throw notFound(
    `version ${version} of ${address} cannot be downloaded yet: ${rows[0].unavailable}`,
  )
}

/** The row of one platform, or 404 with the platforms that there are. */
export function findPlatform(
  provider: Parent,
  version: string,
  os: string,
  arch: string,
): VersionRow {
  const rows = platformsOf(provider, version)
  const row = rows.find((candidate) => candidate.os === os && candidate.arch === arch)
  if (row !== undefined) return row
  throw notFound(
    `version ${version} of provider ${provider.namespace}/${provider.name} is not built for ${os}/${arch}, only for ${platformNames(rows)}`,
  )
}

/** `linux/amd64, linux/arm64` */
export function platformNames(rows: readonly VersionRow[]): string {
  return rows.map((row) => `${row.os}/${row.arch}`).join(', ')
}

function onePerPlatform(rows: readonly VersionRow[]): VersionRow[] {
  const platforms = new Map<string, VersionRow>()
  for (const row of rows) {
    const platform = `${row.os}/${row.arch}`
    if (row.downloadable && !platforms.has(platform)) platforms.set(platform, row)
  }
  return [...platforms.values()]
}

/** Every version that can be downloaded with its platforms, newest first. */
function versionList(provider: Parent): string {
  const served = provider.versions.filter((row) => row.downloadable)
  const versions = Map.groupBy(served, (row) => row.version)
  return JSON.stringify({
    versions: Array.from(versions, ([version, rows]) => ({
      version,
      protocols: protocolsOf(provider, rows),
      platforms: onePerPlatform(rows).map(({ os, arch }) => ({ os, arch })),
    })),
  })
}

function protocolsOf(provider: Parent, rows: readonly VersionRow[]): readonly string[] {
  const own = rows.flatMap((row) => row.protocols ?? [])
  if (own.length > 0) return [...new Set(own)].toSorted(compareText)
  return provider.resource?.protocols ?? defaultProtocols
}

function packageMetadata(
  provider: Parent,
  row: VersionRow,
  baseUrl: string,
  signingKeys: string,
): string {
  const { os = '', arch = '', version } = row
  const [namespace, type] = [provider.namespace, provider.name].map(encodeURIComponent)
  const root = `${baseUrl}/depot/providers/v1`
  const of = `${root}/${namespace}/${type}/${encodeURIComponent(version)}`
  const platform = `${encodeURIComponent(os)}/${encodeURIComponent(arch)}`
  const metadata = JSON.stringify({
    protocols: protocolsOf(provider, [row]),
    os,
    arch,
    filename: row.fileName,
    download_url: `${root}/download/${namespace}/${type}/${encodeURIComponent(version)}?os=${encodeURIComponent(os)}&arch=${encodeURIComponent(arch)}`,
    shasum: row.sha256,
    shasums_url: `${of}/SHA256SUMS/${platform}`,
    shasums_signature_url: `${of}/SHA256SUMS.sig/${platform}`,
  })
  return `${metadata.slice(0, -1)},"signing_keys":${signingKeys}}`
}

/** Keys are most of the metadata, and the same in all of it: as JSON they are made once a key. */
function rememberSigningKeys(): (signer: Signer) => string {
  let revision: number | undefined
  let keys = ''
  return (signer) => {
    if (signer.revision !== revision) {
      keys = JSON.stringify({ gpg_public_keys: signer.publicKeys() })
      revision = signer.revision
    }
    return keys
  }
}
