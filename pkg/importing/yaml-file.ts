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
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const document = parseDocument(text)
  const [mistake] = document.errors
  if (mistake === undefined) return document
  const [line = ''] = mistake.message.split('\n')
  throw new Error(`${path} is no YAML: ${line.replace(/:$/, '')}; correct or remove it`)
}

/** A file is whole or is not there, also for a server that reads the folder at this moment. */
export async function writeYaml(path: string, content: object | Document): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = join(
    dirname(path),
    `.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`,
  )
  try {
    await writeFile(temporary, stringify(content))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
