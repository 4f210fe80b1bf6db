import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes a module of 1 MB. Half of it are bytes that cannot be compressed; the other half is configuration.
 *
 * @param mark makes its files differ from those of another one
 */
export function writeModuleSource(folder: string, mark: string): void {
  mkdirSync(folder, { recursive: true })
  const input = (name: string) => `variable "${name}" {\n  type = map(string)\n  default = {}\n}\n`
  for (let file = 0; file < 100; file += 1) {
    const inputs = Array.from({ length: 3 }, (_, at) => input(`input_${file}_${at}`))
    const comment = `# ${'configuration '.repeat(350)}\n`
    writeFileSync(join(folder, `file-${file}.tf`), `# ${mark}\n${comment}${inputs.join('')}`)
  }
  writeFileSync(join(folder, 'picture.bin'), randomBytes(500_000))
}
