import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'

/*
 * The program of the image as an ESM bundle. Each command, and code that is loaded on first use, such as the SDKs of the clouds,
 * are files of their own below `chunks`.
 */

const repository = join(import.meta.dirname, '../..')

/** CommonJS packages load modules of Node with require, which ESM files lack. */
const requireForCommonJs =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);"

/**
 * Writes `depot.mjs`, the program with every command, into a folder.
 *
 * @param others entry files of more programs, which share the chunks of it
 * @returns the source files that it contains
 */
export function bundleProgram(
  folder: string,
  others: Readonly<Record<string, string>> = {},
): Promise<Metafile> {
  for (const name of unbundled) {
    const from = join(repository, 'node_modules', name)
    cpSync(from, join(folder, 'node_modules', name), { recursive: true })
  }
  return bundle({ ...others, depot: join(repository, 'cmd/depot/main.ts') }, folder)
}

/** The parser of configurations, which a thread loads from its file next to the WebAssembly, and what it requires. */
const unbundled = ['@cdktn/hcl2json', 'graceful-fs', 'jsonfile', 'universalify']

/** Writes a bundle of each entry file, under the name that it has in the image. */
export async function bundle(
  entryPoints: Readonly<Record<string, string>>,
  folder: string,
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints: { ...entryPoints },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: requireForCommonJs },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    // Names stay: they are in logs, metrics and stack traces. With `keepNames` each closure that a request makes would be
    // given its name when it is made, which takes a tenth of what an answer costs.
    minifyIdentifiers: false,
    // NOTICES has them all.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  return metafile
}
