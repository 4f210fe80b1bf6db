import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { emptyRoot } from '../../pkg/api/docs/docs.ts'
import { docsFileName } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { generateSigningKey } from '../../pkg/archives/signing/signing.ts'
import { archiveObjects, type BenchObject, benchObjects } from './registry.ts'

export interface ArchiveCase {
  readonly name: string
  readonly file: string
  readonly sizeBytes: number
  /** Path of the endpoint that says where the archive is. */
  readonly downloadPath: string
}

export interface Fixture {
  readonly manifests: string
  readonly archives: string
  readonly signingKeyPath: string
  readonly archiveCases: readonly ArchiveCase[]
  readonly remove: () => void
}

const sizes = [
  { name: 'archive, 50 kB', module: 'archive-small', sizeBytes: 50_000 },
  { name: 'archive, 100 MB', module: 'archive-large', sizeBytes: 100_000_000 },
]

/** The module whose documentation is measured. */
export const documentedModule = 'documented'

/** A module with 300 inputs. */
function documented(archives: string): BenchObject[] {
  const input = { type: 'map(string)', required: true, sensitive: false, nullable: true }
  const inputs = Array.from({ length: 300 }, (_, index) => {
    const name = `input_${index}`
    const description = `Number ${index} of the inputs of this module.`
    return { name, description, ...input, ephemeral: false, validations: [] }
  })
  const docs = { schema: 1, root: { ...emptyRoot, inputs }, submodules: [], examples: [] }
  const bytes = gzipSync(JSON.stringify(docs))
  const [sha256, ofDocs] = [documentedModule, bytes].map((content) =>
    createHash('sha256').update(content).digest('hex'),
  ) as [string, string]
  const fileName = 'documented-1.0.0.zip'
  const folder = join(archives, 'modules', documentedModule)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, docsFileName(fileName, sha256)), bytes)
  const stored = { sha256: ofDocs, sizeBytes: bytes.length }
  return archiveObjects({ name: documentedModule, fileName, sha256, docs: stored })
}

/** A temporary folder with manifests of a small registry, its archives and a signing key. */
export async function createFixture(size: {
  readonly versions: number
  readonly distinctFindings: number
}): Promise<Fixture> {
  const dir = mkdtempSync(join(tmpdir(), 'depot-bench-'))
  const [manifests, archives] = [join(dir, 'manifests'), join(dir, 'archives')]
  mkdirSync(manifests)
  const made = sizes.map(({ name, module, sizeBytes }) => {
    const fileName = `${module}-1.0.0.zip`
    const bytes = randomBytes(sizeBytes)
    mkdirSync(join(archives, 'modules', module), { recursive: true })
    const file = join(archives, 'modules', module, fileName)
    writeFileSync(file, bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const downloadPath = `/depot/modules/v1/bench/${module}/aws/1.0.0/download`
    const objects = archiveObjects({ name: module, fileName, sha256 })
    return { name, file, sizeBytes, downloadPath, objects }
  })
  const objects: BenchObject[] = made.flatMap((archive) => archive.objects)
  objects.push(...documented(archives))
  for (const object of benchObjects({ ...size, findingsPerVersion: 20 })) objects.push(object)
  writeFileSync(
    join(manifests, 'registry.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  )
  const signingKeyPath = join(dir, 'signing-key.asc')
  const owner = { name: 'Depot benchmark', email: 'depot@example.com' }
  writeFileSync(signingKeyPath, await generateSigningKey(owner), { mode: 0o600 })
  return {
    manifests,
    archives,
    signingKeyPath,
    archiveCases: made,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
