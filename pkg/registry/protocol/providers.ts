import type { Context, Hono } from 'hono'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import {
  after,
  get,
  note,
  type PlainRequest,
  type ReadyAnswer,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import type { Parent } from '../catalog/catalog.ts'
import { baseUrlOf, plainBaseUrlOf } from './base-url.ts'
import { findPlatform, findProvider, findRelease, requireSigner } from './find.ts'
import type { RegistryOptions } from './ports.ts'
import { type Build, type ProviderAnswers, providerPatterns } from './provider-answers.ts'
import { releaseOf } from './release.ts'
import { guard } from './respond.ts'

/** The provider registry protocol, but for the archives themselves. */
export function providerRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
  answers: ProviderAnswers,
): void {
  const { catalog } = options

  get(app, prefix, providerPatterns.versions, (c) => {
    const { namespace, type } = c.req.param()
    return guard(c, options, { namespace, kind: 'Provider', name: type }, () =>
      answers.versions(findProvider(catalog, namespace, type)).toResponse(),
    )
  })

  get(app, prefix, providerPatterns.package, (c) => {
    const path = c.req.param()
    const version = normalizeVersion(path.version)
    const subject = {
      namespace: path.namespace,
      kind: 'Provider',
      name: path.type,
      version,
    } as const
    return guard(c, options, subject, () => {
      const build = findBuild(options, path)
      const signer = requireSigner(options.signer)
      return answers.package(build, signer, baseUrlOf(c, options)).toResponse()
    })
  })

  // CLIs send no credentials here. SHA256SUMS names every platform of the version, whichever one was asked for: a CLI
  // writes all of them into its lock file.
  get(app, prefix, providerPatterns.shasums, (c) => {
    const build = findBuild(options, c.req.param())
    noteBuild(c, build)
    return answers.shasums(build).toResponse()
  })

  get(app, prefix, providerPatterns.signature, (c) => {
    const build = findBuild(options, c.req.param())
    noteBuild(c, build)
    const signer = requireSigner(options.signer)
    const known = answers.knownSignature(build, signer)
    if (known !== undefined) return known.toResponse()
    const { revision } = signer
    return after(signer.sign(build.release.sumLines), (signature) =>
      answers.keepSignature(build, revision, signature).toResponse(),
    )
  })
}

interface BuildPath {
  readonly namespace: string
  readonly type: string
  readonly version: string
  readonly os: string
  readonly arch: string
}

/** @throws RegistryError NotFound */
function findBuild({ catalog }: RegistryOptions, path: BuildPath): Build {
  const provider = findProvider(catalog, path.namespace, path.type)
  const release = findRelease(provider, normalizeVersion(path.version))
  return { provider, release, row: findPlatform(release.platforms, path.os, path.arch) }
}

function noteBuild(c: Context<ServingEnv>, { provider, row }: Build): void {
  const { namespace, name } = provider
  note(c, { namespace, kind: 'Provider', name, version: row.version })
}

/**
 * The answers that are ready, for paths below `/depot/providers/v1`.
 *
 * @param segments of the path, the first empty
 */
export function readyProviderAnswer(
  segments: readonly string[],
  request: PlainRequest,
  options: RegistryOptions,
  answers: ProviderAnswers,
): ReadyAnswer | undefined {
  const [, , , , namespace = '', type = ''] = segments
  const provider = options.catalog.providers.get(namespace)?.get(type)
  if (provider === undefined) return undefined
  const mayRead = (): boolean => options.mayReadNow?.(request, 'Provider', namespace, type) ?? true
  if (segments.length === 7) {
    if (segments[6] !== 'versions' || !mayRead()) return undefined
    return answers.versions(provider)
  }
  if (segments.length !== 10) return undefined
  const build = knownBuild(provider, segments)
  if (build === undefined) return undefined
  const { signer } = options
  switch (segments[7] ?? '') {
    case 'SHA256SUMS':
      return answers.shasums(build)
    case 'SHA256SUMS.sig':
      return signer && answers.knownSignature(build, signer)
    case 'download': {
      const baseUrl = plainBaseUrlOf(request, options)
      if (signer === undefined || baseUrl === undefined || !mayRead()) return undefined
      return answers.package(build, signer, baseUrl)
    }
    default:
      return undefined
  }
}

function knownBuild(provider: Parent, segments: readonly string[]): Build | undefined {
  const [, , , , , , version = '', , os, arch] = segments
  const release = releaseOf(provider, normalizeVersion(version))
  const row = release?.platforms.find((it) => it.os === os && it.arch === arch)
  return release && row && { provider, release, row }
}
