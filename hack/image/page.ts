import { existsSync, mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'vite'

/* The explorer's page, and the code with which its server draws it, built by Vite. */

const repository = join(import.meta.dirname, '../..')
const web = join(repository, 'pkg/explorer/web')

/** Writes the page into a folder. @returns the source files that it is made of, relative to the repository. */
export async function bundlePage(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(web)) return []
  const page = await buildWith('vite.config.ts', folder, true)
  const firstView = await buildWith('first-view.config.ts', folder, false)
  return [...new Set([...page, ...firstView])]
}

async function buildWith(config: string, outDir: string, emptyOutDir: boolean): Promise<string[]> {
  const built = await build({
    configFile: join(web, config),
    logLevel: 'warn',
    build: { outDir, emptyOutDir },
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
