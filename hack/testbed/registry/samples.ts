import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSamples } from '../../samples.ts'
import type { Registry } from './registry.ts'

const samples = join(import.meta.dirname, '../../../config/samples')

/** Fills a registry from config/samples: with the archives of all of it, and the manifests of some files. */
export async function writeSamples(
  registry: Registry,
  files: readonly string[] = ['network.yaml', 'hello.yaml'],
): Promise<void> {
  await buildSamples(registry.archives)
  for (const file of files) {
    registry.writeText(file, readFileSync(join(samples, file), 'utf8'))
  }
}
