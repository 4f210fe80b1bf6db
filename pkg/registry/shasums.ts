import type { Hono } from 'hono'
import { normalizeVersion } from '../apis/v1alpha1/v1alpha1.ts'
import { compareText, type Parent } from '../catalog/catalog.ts'
import { after, get, type ServingEnv } from '../serving/serving.ts'
import { findPlatform, findProvider, platformsOf, requireSigner } from './find.ts'
import type { RegistryOptions } from './ports.ts'

/**
 * SHA256SUMS and its signature. The file names every platform of the version, whichever one was asked for: a CLI writes
 * all of them into its lock file.
 */
export function shasumsRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
): void {
  get(app, prefix, '/:namespace/:type/:version/SHA256SUMS/:os/:arch', (c) => {
    const { provider, version } = find(options, c.req.param())
    return new Response(shasums(provider, version), {
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    })
  })

  get(app, prefix, '/:namespace/:type/:version/SHA256SUMS.sig/:os/:arch', (c) => {
    const { provider, version } = find(options, c.req.param())
    return after(requireSigner(options.signer).sign(shasums(provider, version)), bytes)
  })
}

const bytes = (signature: Uint8Array): Response =>
  new Response(signature as Uint8Array<ArrayBuffer>, {
    headers: { 'Content-Type': 'application/octet-stream' },
  })

function find(
  { catalog }: RegistryOptions,
  path: { namespace: string; type: string; version: string; os: string; arch: string },
): { provider: Parent; version: string } {
  const provider = findProvider(catalog, path.namespace, path.type)
  const version = normalizeVersion(path.version)
  findPlatform(platformsOf(provider, version), path.os, path.arch)
  return { provider, version }
}

/** In the format of sha256sum, ordered by file name. */
function shasums(provider: Parent, version: string): string {
  return provider.memo(`SHA256SUMS ${version}`, () =>
    platformsOf(provider, version)
      .toSorted((a, b) => compareText(a.fileName, b.fileName))
      .map((row) => `${row.sha256}  ${row.fileName}\n`)
      .join(''),
  )
}
