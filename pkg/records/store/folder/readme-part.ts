import { documentsOf, joinedDocuments, parseYaml } from '../../folder/folder.ts'
import { isReadmeOf, readmeObject, readmeRefOf } from '../readme.ts'
import type { StoredRef } from '../types.ts'
import { record } from '../whole-object.ts'
import { textOf } from './text.ts'

/** The README of a Version as a document of the file of that Version. */
export const readmePart = (readme: ReturnType<typeof readmeObject>): string =>
  `---\n${textOf({ apiVersion: 'v1', ...readme })}`

/**
 * Takes the README of a Version out of a file. Other documents stay byte for byte.
 *
 * @returns an empty README if the file has none
 */
export function splitReadme(
  text: string,
  version: StoredRef,
  apiGroup: string,
): { readonly rest: string; readonly readme: string } {
  if (version.kind !== 'Version') return { rest: text, readme: '' }
  const parts = Array.from(documentsOf(text), (part) => part.text)
  const readmes = parts.filter((part) => isReadme(part, version, apiGroup))
  const others = parts.filter((part) => !readmes.includes(part))
  return { rest: joinedDocuments(others), readme: readmes.at(-1) ?? '' }
}

/** Whether a document is the README of a Version, however it is formatted, even if a full disk cut it. */
function isReadme(part: string, version: StoredRef, apiGroup: string): boolean {
  const { value } = parseYaml(part)
  const { kind, metadata } = record(value)
  const { name, namespace = 'default' } = record(metadata)
  const isNamed = name === readmeRefOf(version).name && namespace === version.namespace
  if (kind === 'ConfigMap' && isNamed && isReadmeOf(version, value, apiGroup)) return true
  if (!part.startsWith('---')) return false
  const whole = readmePart(readmeObject({ metadata: { ...version, uid: '' } }, {}, apiGroup))
  const [start = ''] = whole.split(/^ *uid:/m)
  return start.startsWith(part)
}
