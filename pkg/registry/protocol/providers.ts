import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { after } from '../../base/serving/serving.ts'
import type { Parent } from '../catalog/catalog.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { findPlatform, findRelease, noProvider, requireSigner } from './find.ts'
import type { RegistryOptions } from './options.ts'
import { type Build, type ProviderAnswers, providerRoutes } from './provider-answers.ts'
import { baseUrlOf } from './respond.ts'

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
