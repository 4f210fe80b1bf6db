import { documentsOf, joinedDocuments, parseYaml } from '../../folder/folder.ts'
import { isReadmeOf, type ReadmeObject, readmeObject, readmeRefOf } from '../../readme/readme.ts'
import { record } from '../memory.ts'
import type { StoredRef } from '../types.ts'
import { textOf } from './write-file.ts'

const marker = '---\n'

/** The README of a Version as a document of the file of that Version. */
export const readmePart = (readme: ReadmeObject): string =>
  `${marker}${textOf({ apiVersion: 'v1', ...readme })}`

/** A text with another document at its end, behind the marker of an empty document if that is there. */
export function appended(text: string, part: string): string {
  if (part === '' || text === '') return text + part
  const before = text.endsWith('\n') ? text : `${text}\n`
  return before.endsWith(`\n${marker}`) ? before + part.slice(marker.length) : before + part
}

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
  const isReadme = readmeTest(version, apiGroup)
  const parts = Array.from(documentsOf(text), (part) => part.text)
  const readmes = parts.filter((part, index) => isReadme(part, index === parts.length - 1))
  const others = parts.filter((part) => !readmes.includes(part))
  return { rest: joinedDocuments(others), readme: readmes.at(-1) ?? '' }
}

/**
 * Finds the README of a Version among documents, however it is formatted, even if a full disk cut it at the end of the file. A
 * file may have thousands of documents, so that only those with the name of the README are parsed.
 */
function readmeTest(
  version: StoredRef,
  apiGroup: string,
): (part: string, isLast: boolean) => boolean {
  const { name } = readmeRefOf(version)
  const whole = readmePart(readmeObject({ ...version, uid: '' }, {}, apiGroup))
  const [start = ''] = whole.split(/^ *uid:/m)
  return (part, isLast) => {
    // A marker alone may be of a person.
    if (isLast && part.length > marker.length && start.startsWith(part)) return true
    if (!part.includes(name)) return false
    const { value } = parseYaml(part)
    const { kind, metadata } = record(value)
    const { name: named, namespace = 'default' } = record(metadata)
    const isNamed = named === name && namespace === version.namespace
    return kind === 'ConfigMap' && isNamed && isReadmeOf(version, value, apiGroup)
  }
}
