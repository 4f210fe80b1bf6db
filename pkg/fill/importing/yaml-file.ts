import { type Document, parseDocument } from 'yaml'

/** @throws Error naming the file, if it is not valid YAML */
export function yamlOf(path: string, text: string): Document {
  const document = parseDocument(text)
  const [mistake] = document.errors
  if (mistake === undefined) return document
  const [line = ''] = mistake.message.split('\n')
  throw new Error(`${path} is not valid YAML: ${line.replace(/:$/, '')}; correct or remove it`)
}
