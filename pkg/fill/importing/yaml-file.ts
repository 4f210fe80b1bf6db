import { readFile } from 'node:fs/promises'
import { type Document, parseDocument } from 'yaml'
import { codeOf } from '../../base/errors/errors.ts'

/** @returns undefined if the file does not exist */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
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
