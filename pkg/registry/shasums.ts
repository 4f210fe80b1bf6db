import { Hono } from 'hono'
import { normalizeVersion } from '../apis/v1alpha1/v1alpha1.ts'
import { compareText, type Parent } from '../catalog/catalog.ts'
import { findPlatform, platformsOf } from './providers.ts'
import {
  findProvider,
  note,
  type RegistryEnv,
  type RegistryOptions,
  requireSigner,
} from './routes.ts'

/**
 * SHA256SUMS and its signature. The file names every platform of the version, whichever one was asked for: a CLI writes
 * all of them into its lock file.
 */
export function shasumsRoutes(options: RegistryOptions): Hono<RegistryEnv> {
  const app = new Hono<RegistryEnv>()

  app.get('/:namespace/:type/:version/SHA256SUMS/:os/:arch', (c) => {
    note(c, '/depot/providers/v1/:namespace/:type/:version/SHA256SUMS/:os/:arch')
    const { provider, version } = find(options, c.req.param())
    return new Response(shasums(provider, version), {
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    })
  })

  app.get(
    '/:namespace/:type/:version/SHA256SUMS.sig/:os/:arch',
    (c): Response | Promise<Response> => {
      note(c, '/depot/providers/v1/:namespace/:type/:version/SHA256SUMS.sig/:os/:arch')
      const { provider, version } = find(options, c.req.param())
      const signature = requireSigner(options.signer).sign(shasums(provider, version))
      return signature instanceof Uint8Array ? bytes(signature) : signature.then(bytes)
    },
  )

  return app
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
  findPlatform(provider, version, path.os, path.arch)
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
