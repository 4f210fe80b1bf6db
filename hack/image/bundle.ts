import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'

/*
 * The commands of the image as ESM bundles. Code that several commands share, and code that is loaded on first use, such as the
 * SDKs of the clouds, are files of their own below `chunks`.
 */

const repository = join(import.meta.dirname, '../..')

/** Each command's entry file becomes a file of this name in the image. */
const everyCommand = ['server', 'ui', 'controller', 'sync', 'selftest']

/** CommonJS packages load modules of Node with require, which ESM files lack. */
const requireForCommonJs =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);"

const entryOf = (command: string): string => join(repository, 'cmd', command, 'main.ts')

/** Writes `server.mjs` and its siblings into a folder. @returns the source files that they contain. */
export function bundleCommands(
  folder: string,
  commands: readonly string[] = everyCommand,
): Promise<Metafile> {
  const there = commands.filter((command) => existsSync(entryOf(command)))
  return bundle(Object.fromEntries(there.map((command) => [command, entryOf(command)])), folder)
}

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
