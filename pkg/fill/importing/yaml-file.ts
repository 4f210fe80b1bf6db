import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Document, parseDocument, stringify } from 'yaml'

/**
 * Reads a manifest.
 *
 * @returns undefined where there is none
 * @throws Error naming the file, where it is no YAML
 */
export async function readYaml(path: string): Promise<Document | undefined> {
  const text = await readText(path)
  return text === undefined ? undefined : yamlOf(path, text)
}

/** @returns undefined where there is no such file */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** @throws Error naming the file, where it is no YAML */
export function yamlOf(path: string, text: string): Document {
  const document = parseDocument(text)
  const [mistake] = document.errors
  if (mistake === undefined) return document
  const [line = ''] = mistake.message.split('\n')
  throw new Error(`${path} is no YAML: ${line.replace(/:$/, '')}; correct or remove it`)
}

/**
 * A file is whole or is not there, also for a server that reads the folder at this moment.
 *
 * @returns its text
 */
export async function writeYaml(path: string, content: object | Document): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = join(
    dirname(path),
    `.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`,
  )
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
