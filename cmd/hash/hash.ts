import { inspectProvider } from '../../pkg/archives/archive/archive.ts'
import { codeOf, messageOf } from '../../pkg/base/errors/errors.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'

/**
 * Prints the digests of a provider's zip.
 *
 * @returns 1 if it is not such a zip
 */
export async function hash(
  _: object,
  [file = '', ...others]: readonly string[],
): Promise<string | number> {
  if (others.length > 0) throw new OptionsError(['write one zip'])
  try {
    const { sha256, h1 } = await inspectProvider({ file, type: '' })
    return `zh:${sha256}\n${h1}\n`
  } catch (error) {
    const isFolder = codeOf(error) === 'EISDIR'
    const message = isFolder ? 'it is a folder: name one zip of it' : messageOf(error)
    process.stderr.write(`depot: ${file}: ${message}\n`)
    return 1
  }
}
