import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Document, parseDocument, stringify } from 'yaml'

/** @returns undefined if the file does not exist */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** @throws Error naming the file, if it is not valid YAML */
export function yamlOf(path: string, text: string): Document {
  const document = parseDocument(text)
  const [mistake] = document.errors
  if (mistake === undefined) return document
  const [line = ''] = mistake.message.split('\n')
  throw new Error(`${path} is not valid YAML: ${line.replace(/:$/, '')}; correct or remove it`)
}

/**
 * Writes a file and renames it into place, so a server that reads the folder never sees half of it.
 *
 * @returns its text
 */
export async function writeYaml(path: string, content: object | Document): Promise<string> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  const temporary = join(folder, `.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`)
  const text = stringify(content)
  try {
    await writeFile(temporary, text)
    await rename(temporary, path)
    return text
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
