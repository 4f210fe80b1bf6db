import { existsSync, mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'vite'

/* The explorer's page, built by Vite. */

const repository = join(import.meta.dirname, '../..')
const configFile = join(repository, 'pkg/explorer/web/vite.config.ts')

/** Writes the page into a folder. @returns the source files that it is made of, relative to the repository. */
export async function bundlePage(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(configFile)) return []
  const built = await build({
    configFile,
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
  })
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) =>
    'output' in one ? one.output : [],
  )
  return outputs.flatMap((output) =>
    output.type === 'chunk'
      ? output.moduleIds.map((id) => relative(repository, id.replace(/^\0+/, '')))
      : [],
  )
}
