import type { Hono } from 'hono'
import { normalizeVersion } from '../apis/v1alpha1/v1alpha1.ts'
import { compareText, type Parent, type VersionRow } from '../catalog/catalog.ts'
import { get, type ServingEnv } from '../serving/serving.ts'
import { baseUrlOf } from './base-url.ts'
import { findPlatform, findProvider, onePerPlatform, platformsOf, requireSigner } from './find.ts'
import type { RegistryOptions, Signer } from './ports.ts'
import { rememberPackages } from './remembered-packages.ts'
import { encodeOnce, guard, json } from './respond.ts'

/** Versions of the plugin protocol that a provider speaks if it does not say. */
const defaultProtocols: readonly string[] = ['5.0']

/** The provider registry protocol, but for archives, checksums and signatures. */
export function providerRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
): void {
  const { catalog } = options
  const signingKeys = rememberSigningKeys()
  const remembered = rememberPackages()

  get(app, prefix, '/:namespace/:type/versions', (c) => {
    const { namespace, type } = c.req.param()
    return guard(c, options, { namespace, kind: 'Provider', name: type }, () => {
      const provider = findProvider(catalog, namespace, type)
      return json(provider.memo('versions', () => encodeOnce(versionList(provider))))
    })
  })

  get(app, prefix, '/:namespace/:type/:version/download/:os/:arch', (c) => {
    const { namespace, type, os, arch } = c.req.param()
    const version = normalizeVersion(c.req.param('version'))
    return guard(c, options, { namespace, kind: 'Provider', name: type, version }, () => {
      const provider = findProvider(catalog, namespace, type)
      const row = findPlatform(platformsOf(provider, version), os, arch)
      const signer = requireSigner(options.signer)
      const baseUrl = baseUrlOf(c, options)
      const metadata = remembered(provider, row, baseUrl, signer, () =>
        packageMetadata(provider, row, baseUrl, signingKeys(signer)),
      )
      return json(metadata)
    })
  })
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
