import { LRUCache } from 'lru-cache'
import type { ProviderPackage, ProviderVersions, SigningKeys } from '../../api/registry/registry.ts'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import type { Signer } from '../../archives/signing/signing.ts'
import { after, ReadyAnswer } from '../../base/serving/serving.ts'
import {
  compareText,
  heldBackText,
  isNews,
  type Parent,
  type VersionRow,
} from '../catalog/catalog.ts'
import { providerPrefix } from './discovery.ts'
import {
  baseUrlOf,
  type Endpoint,
  endpoint,
  jsonHeadersOf,
  linkHeadersOf,
  type RegistryOptions,
} from './endpoint.ts'
import {
  findPlatform,
  findRelease,
  noProvider,
  onePerPlatform,
  type Release,
  releaseOf,
  requireSigner,
} from './find.ts'
import { moreVersions, warningsOf } from './listed-version.ts'

/** The provider registry protocol, without the archives. */
export function providerEndpoints(
  options: RegistryOptions,
  answers: ProviderAnswers,
): readonly Endpoint[] {
  return [
    endpoint({
      route: providerRoutes.versions,
      kind: 'Provider',
      read: (path, parent) => parent ?? noProvider(path),
      ready: (provider) => answers.versions(provider),
    }),
    endpoint({
      route: providerRoutes.package,
      kind: 'Provider',
      read(path, parent, asked) {
        const build = findBuild(path, parent)
        const signer = requireSigner(options.signer)
        return { build, signer, baseUrl: baseUrlOf(asked, options) }
      },
      ready: ({ build, signer, baseUrl }) => answers.package(build, signer, baseUrl),
    }),
    // SHA256SUMS names every platform of the version, whichever one was asked for: a CLI writes all of them into its lock
    // file.
    endpoint({
      route: providerRoutes.shasums,
      kind: 'Provider',
      digestOf: ({ row }) => row.sha256,
      read: findBuild,
      ready: (build) => answers.shasums(build),
    }),
    endpoint({
      route: providerRoutes.signature,
      kind: 'Provider',
      digestOf: ({ build }) => build.row.sha256,
      read: (path, parent) => ({
        build: findBuild(path, parent),
        signer: requireSigner(options.signer),
      }),
      ready: ({ build, signer }) => answers.knownSignature(build, signer),
      answer({ build, signer }) {
        const { revision } = signer
        return after(signer.sign(build.release.sumLines), (signature) =>
          answers.keepSignature(build, revision, signature),
        )
      },
    }),
  ]
}

/** @throws RegistryError NotFound */
function findBuild(
  path: Record<'namespace' | 'type' | 'version' | 'os' | 'arch', string>,
  parent: Parent | undefined,
): Build {
  const provider = parent ?? noProvider(path)
  const release = findRelease(provider, normalizeVersion(path.version))
  return { provider, release, row: findPlatform(release.platforms, path.os, path.arch) }
}

/** Below the prefix of the protocol. */
export const providerRoutes = {
  versions: '/:namespace/:type/versions',
  package: '/:namespace/:type/:version/download/:os/:arch',
  shasums: '/:namespace/:type/:version/SHA256SUMS/:os/:arch',
  archive: '/download/:namespace/:type/:version',
  signature: '/:namespace/:type/:version/SHA256SUMS.sig/:os/:arch',
} as const

/** Versions of the plugin protocol, for a provider that names none. */
const defaultProtocols: readonly string[] = ['5.0']

const maxWarnings = 5
/** Warnings are in every list. */
const maxReasonBytes = 400

/** How many platforms' metadata is kept, of some 5 kB each. */
const maxPackages = 1000
/** How many releases' signatures are kept, of some 1 kB each. */
const maxSignatures = 4096
const signatureHeaders = { 'Content-Type': 'application/octet-stream' }

/** A platform of a release, and where both belong. */
interface Build {
  readonly provider: Parent
  readonly release: Release
  readonly row: VersionRow
}

/** Answers that depend on the signing key, which may be replaced at any time, and what else they were made of. */
type SignedAnswers = LRUCache<
  object,
  { readonly madeOf: readonly unknown[]; readonly answer: ReadyAnswer }
>

/** An answer that is kept, unless something that it was made of has changed. */
function currentOf(
  answers: SignedAnswers,
  key: object,
  madeOf: readonly unknown[],
): ReadyAnswer | undefined {
  const kept = answers.get(key)
  return kept?.madeOf.every((part, index) => part === madeOf[index]) ? kept.answer : undefined
}

/** Makes the answers about providers, and keeps them until they are out of date. */
export class ProviderAnswers {
  readonly #options: RegistryOptions
  readonly #packages: SignedAnswers = new LRUCache({ max: maxPackages })
  readonly #signatures: SignedAnswers = new LRUCache({ max: maxSignatures })
  #signingKeys: { readonly keyRevision: number; readonly json: string } | undefined

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  versions(provider: Parent): ReadyAnswer {
    return provider.memo(
      'versions',
      () =>
        new ReadyAnswer(
          versionList(provider),
          jsonHeadersOf(this.#options),
          factsOf('versions', provider),
        ),
    )
  }

  /** @param baseUrl of the links in it */
  package(build: Build, signer: Signer, baseUrl: string): ReadyAnswer {
    const { provider, release, row } = build
    const madeOf = [release, signer.revision, baseUrl]
    const known = currentOf(this.#packages, row, madeOf)
    if (known !== undefined) return known
    const metadata = packageMetadata(provider, row, baseUrl, this.#signingKeysOf(signer))
    const facts = factsOf('package', provider, row.version)
    const headers = { ...jsonHeadersOf(this.#options), ...linkHeadersOf(this.#options) }
    const answer = new ReadyAnswer(metadata, headers, facts)
    this.#packages.set(row, { madeOf, answer })
    return answer
  }

  shasums({ provider, release, row }: Build): ReadyAnswer {
    return release.shasums(factsOf('shasums', provider, row.version))
  }

  /** The signature of SHA256SUMS, if it is kept. */
  knownSignature({ release }: Build, signer: Signer): ReadyAnswer | undefined {
    const known = currentOf(this.#signatures, release, [signer.revision])
    if (known !== undefined) signer.countReuse()
    return known
  }

  keepSignature(build: Build, keyRevision: number, signature: Uint8Array): ReadyAnswer {
    const { provider, release, row } = build
    const facts = factsOf('signature', provider, row.version)
    const answer = new ReadyAnswer(new Uint8Array(signature), signatureHeaders, facts)
    this.#signatures.set(release, { madeOf: [keyRevision], answer })
    return answer
  }

  /** Keys are most of the metadata and the same everywhere, so they become JSON once for each key. */
  #signingKeysOf(signer: Signer): string {
    if (this.#signingKeys?.keyRevision !== signer.revision) {
      const keys: SigningKeys = { gpg_public_keys: signer.publicKeys() }
      this.#signingKeys = { keyRevision: signer.revision, json: JSON.stringify(keys) }
    }
    return this.#signingKeys.json
  }
}

function factsOf(
  pattern: keyof typeof providerRoutes,
  { namespace, name }: Parent,
  version?: string,
): ReadyAnswer['facts'] {
  const route = providerPrefix + providerRoutes[pattern]
  const facts = { route, namespace, kind: 'Provider' as const, name }
  return version === undefined ? facts : { ...facts, version }
}

/** Every listed version with its platforms, newest first. */
function versionList(provider: Parent): string {
  const listed = provider.versions.filter((row) => row.isListed)
  const versions = Map.groupBy(listed, (row) => row.version)
  const warnings = [...(warningsOf(listed) ?? []), ...heldBackWarnings(provider)]
  const list: ProviderVersions = {
    warnings: warnings.length > 0 ? warnings : undefined,
    versions: Array.from(versions, ([version, rows]) => ({
      version,
      protocols: protocolsOf(provider, rows),
      platforms: onePerPlatform(rows).map(({ os = '', arch = '' }) => ({ os, arch })),
    })),
  }
  return JSON.stringify(list)
}

/** CLIs print each line, even when no version in the list is the wanted one. */
function heldBackWarnings(provider: Parent): string[] {
  const told = (provider.resource?.heldBack ?? []).filter(
    (one) => isNews(one) && releaseOf(provider, normalizeVersion(one.version)) === undefined,
  )
  const lines = told
    .slice(0, maxWarnings)
    .map((one) => `version ${one.version} is ${heldBackText(one, maxReasonBytes)}`)
  const more = told.length - lines.length
  return more === 0 ? lines : [...lines, `${moreVersions(more)} held back`]
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
  const { os = '', arch = '', version, fileName = '', sha256 = '' } = row
  const [namespace, type] = [provider.namespace, provider.name].map(encodeURIComponent)
  const root = baseUrl + providerPrefix
  const of = `${root}/${namespace}/${type}/${encodeURIComponent(version)}`
  const platform = `${encodeURIComponent(os)}/${encodeURIComponent(arch)}`
  // Without it, strangers could guess the URLs.
  const digest = `sha256=${sha256}`
  const metadata: Omit<ProviderPackage, 'signing_keys'> = {
    protocols: protocolsOf(provider, [row]),
    os,
    arch,
    filename: fileName,
    download_url: `${root}/download/${namespace}/${type}/${encodeURIComponent(version)}?os=${encodeURIComponent(os)}&arch=${encodeURIComponent(arch)}&${digest}`,
    shasum: sha256,
    shasums_url: `${of}/SHA256SUMS/${platform}?${digest}`,
    shasums_signature_url: `${of}/SHA256SUMS.sig/${platform}?${digest}`,
  }
  return `${JSON.stringify(metadata).slice(0, -1)},"signing_keys":${signingKeys}}`
}
