import { readFile, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { ModuleDocs } from '../../pkg/api/docs/docs.ts'
import {
  docsMarkdown,
  docsProblems,
  injectDocs,
  plainText,
  problemText,
} from '../../pkg/archives/docs/docs.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { type DocsCommandOptions, mistakeIn, OptionsError } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import { localDocs, openRegistry, registryModule } from '../registry/registry.ts'

/**
 * Prints the documentation of a module, or writes it into a README.
 *
 * @returns the exit status: 1 if a part of the module could not be read
 * @throws OptionsError if the module or the README cannot be read
 */
export async function docs(
  options: DocsCommandOptions,
  [path = '', ...others]: readonly string[],
): Promise<number> {
  if (others.length > 0) throw new OptionsError(['write one folder, archive or address'])
  const { output, inject } = options
  const address = registryModule(path)
  await using registry = address && (await openRegistry(options, [address.host]))
  const at = address && (await registry?.versionOf(address).catch(mistakeIn(path)))
  const reading = at && registry ? registry.docsOf(at).catch(mistakeIn(path)) : localDocs(path)
  const { schema, ...folders } = await reading
  const read = {
    schema,
    ...(at && { address: at.path, version: at.version }),
    ...folders,
  }
  const problems = docsProblems(read)
  for (const problem of problems)
    process.stderr.write(`depot: ${plainText(problemText(problem))}\n`)
  if (inject !== undefined) await writeInto(at ? inject : await belowModule(path, inject), read)
  else
    stdout.write(
      output === 'json' ? plainText(`${JSON.stringify(read, null, 2)}\n`) : docsMarkdown(read),
    )
  return problems.length > 0 ? 1 : 0
}

/** The file in the folder of the module, as in terraform-docs. An archive has no folder. */
const belowModule = async (path: string, file: string): Promise<string> =>
  !isAbsolute(file) && (await stat(path)).isDirectory() ? join(path, file) : file

async function writeInto(file: string, read: ModuleDocs): Promise<void> {
  try {
    const before = await readFile(file, 'utf8')
    const text = injectDocs(before, read)
    if (text === undefined) {
      const markers = '<!-- BEGIN_TF_DOCS --> and <!-- END_TF_DOCS -->'
      throw new OptionsError([`--inject: ${file} has no markers: add ${markers}`])
    }
    if (text !== before) await writeFile(file, text)
  } catch (error) {
    throw error instanceof OptionsError
      ? error
      : new OptionsError([
          `--inject: ${messageOf(error)}: name a file that exists and that you may write`,
        ])
  }
}
