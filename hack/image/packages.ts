import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'

/*
 * The npm packages in the image: those installed for production, and others that the bundler included.
 */

const repository = join(import.meta.dirname, '../..')

const spdxPackage = z.looseObject({
  name: z.string(),
  SPDXID: z.string(),
  versionInfo: z.string(),
  packageFileName: z.string(),
  licenseDeclared: z.string().default('NOASSERTION'),
})

const spdxDocument = z.looseObject({ packages: z.array(spdxPackage) })

export type SpdxPackage = z.infer<typeof spdxPackage>

async function npmSbom(...flags: string[]): Promise<SpdxPackage[]> {
  const { stdout } = await promisify(execFile)('npm', ['sbom', '--sbom-format=spdx', ...flags], {
    cwd: repository,
    // Vite sets it to production in this process, and npm would leave out development packages that the bundler has included.
    env: { ...process.env, NODE_ENV: '' },
    maxBuffer: 2 ** 28,
  })
  return spdxDocument.parse(JSON.parse(stdout)).packages
}

/** The folder of the package that a file belongs to: `node_modules/@scope/name`. */
const folderOf = (file: string): string | undefined =>
  /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]

/** @param files paths that a bundler has read, relative to the repository. @returns sorted by name and version. */
export async function packagesOfImage(files: readonly string[]): Promise<SpdxPackage[]> {
  const bundled = new Set(files.map(folderOf))
  const production = await npmSbom('--omit=dev')
  const ids = new Set(production.map(({ SPDXID }) => SPDXID))
  const all = await npmSbom()
  const byId = new Map(
    [...production, ...all.filter(({ packageFileName }) => bundled.has(packageFileName))].map(
      (found) => [found.SPDXID, found],
    ),
  )
  // npm names the project itself without a folder.
  const installed = [...byId.values()].filter(({ packageFileName }) => packageFileName !== '')
  if (ids.size < 2) throw new Error('npm sbom lists no packages; run npm ci first')
  return installed.toSorted((a, b) => (a.SPDXID < b.SPDXID ? -1 : 1))
}
