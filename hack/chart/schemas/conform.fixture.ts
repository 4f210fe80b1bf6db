import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tool } from '../helm.fixture.ts'

interface Bundle {
  readonly roots: Readonly<Record<string, string>>
  readonly components: Readonly<Record<string, unknown>>
}

/**
 * Writes the schemas for kubeconform, a file per kind. @returns a function that checks a text of manifests, and one that
 * cleans up
 */
export function conformance(): { check(text: string): string[]; dispose(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'depot-schemas-'))
  for (const bundle of ['kubernetes', 'definitions']) {
    const path = join(import.meta.dirname, `${bundle}.json`)
    const { roots, components }: Bundle = JSON.parse(readFileSync(path, 'utf8'))
    for (const [file, name] of Object.entries(roots)) {
      const schema = { $ref: `#/components/schemas/${name}`, components: { schemas: components } }
      writeFileSync(join(folder, file), JSON.stringify(schema))
    }
  }
  const location = join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json')
  return {
    check(text) {
      const { stdout, stderr } = spawnSync(
        tool('kubeconform'),
        ['-strict', '-output', 'json', '-schema-location', location],
        { input: text, encoding: 'utf8', maxBuffer: 2 ** 26 },
      )
      if (stdout === '') throw new Error(stderr)
      const { resources }: { resources: Record<string, string>[] } = JSON.parse(stdout)
      return resources.map(({ kind, name, msg }) => `${kind} ${name}: ${msg}`)
    },
    dispose: () => rmSync(folder, { recursive: true }),
  }
}
