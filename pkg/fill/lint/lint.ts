/** Finds mistakes in manifests before anything serves them, and prints the findings. It changes no file. */

import {
  formatPath,
  type GroupBinding,
  ignoredBindingIssue,
  mistakesIn,
  nameIssue,
  publicLabelIssue,
} from '../../api/v1alpha1/v1alpha1.ts'
import { readManifests } from '../../records/folder/folder.ts'
import { inArchive, openMount } from './archives.ts'
import { about, isOf, type LintFinding, type PlacedObject, placeOf, repeats } from './finding.ts'
import { addressConflicts, ManifestParents } from './parents.ts'
import { duplicateVersions, inVersion } from './versions.ts'

export { checks } from './finding.ts'
export { asJson, asSarif, asText } from './report.ts'

export interface LintOptions {
  /** Compiles a binding's expression and globs as the server does. */
  readonly compileBinding: (binding: GroupBinding) => { readonly problem: string | undefined }
  /** Files and folders, checked together as one registry. */
  readonly paths: readonly string[]
  readonly apiGroup: string
  /** The namespace of GroupBindings; those elsewhere are ignored. */
  readonly namespace: string
  /** Whether the manifests refer to objects elsewhere. */
  readonly partial: boolean
  /** Root of archives on the filesystem, to check them as well. */
  readonly archives?: string | undefined
}

export interface LintResult {
  readonly findings: readonly LintFinding[]
  readonly files: number
  readonly objects: number
}

/**
 * Checks manifests: syntax, fields, values, references, conflicts, expressions, and archives if a mount is given.
 *
 * @returns findings by file and line
 * @throws the error of the file system if a path does not exist
 */
export async function lint(options: LintOptions): Promise<LintResult> {
  const { paths, apiGroup, archives } = options
  const read = (await Promise.all(paths.map((path) => readManifests(path, apiGroup)))).flat()
  const { findings, objects } = findingsOf(read)
  const duplicates = new Set<PlacedObject>()
  for (const [first, other] of repeats(objects, identityOf)) {
    const message = `is defined in ${placeOf(first)} already: delete one of them`
    findings.push(about(other, 'duplicate-object', message))
    duplicates.add(other)
  }
  const distinct = objects.filter((object) => !duplicates.has(object))
  for (const object of distinct) findings.push(...inObject(object, options))

  const parents = new ManifestParents(distinct)
  findings.push(...addressConflicts(parents))
  const versions = distinct.filter(isOf('Version'))
  const mount = archives === undefined ? undefined : openMount(archives)
  for (const version of versions) {
    findings.push(...inVersion(version, parents, options))
    const finding = mount && (await inArchive(version, parents, mount, options))
    if (finding !== undefined) findings.push(finding)
  }
  findings.push(...duplicateVersions(versions, parents))
  return { findings: findings.toSorted(byPlace), files: read.length, objects: objects.length }
}

/** Collects the objects of files, and the mistakes of reading them. */
function findingsOf(read: Awaited<ReturnType<typeof readManifests>>) {
  const findings: LintFinding[] = []
  const objects: PlacedObject[] = []
  for (const { file, entries, rejections } of read) {
    for (const { reason, line, object, field, message, others = [] } of rejections) {
      const check = reason === 'Invalid' || reason === 'Duplicate' ? 'schema' : 'syntax'
      for (const text of [message, ...others]) {
        findings.push({ check, level: 'error', file, line, object, field, message: text })
      }
    }
    for (const { key, line, object: resource, unknown = [] } of entries) {
      if (resource !== undefined) objects.push({ file, line, key, resource })
      for (const { path, message } of unknown) {
        const field = formatPath(path)
        findings.push(about({ file, line, key }, 'unknown-field', message, { field }))
      }
    }
  }
  return { findings, objects }
}

const identityOf = ({ key }: PlacedObject): string => `${key.kind} ${key.namespace} ${key.name}`

const byPlace = (a: LintFinding, b: LintFinding): number =>
  a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : a.file < b.file ? -1 : 1

/** Checks one object by itself. */
function* inObject(
  object: PlacedObject,
  { namespace, apiGroup, compileBinding }: LintOptions,
): Generator<LintFinding> {
  const { resource } = object
  const named = nameIssue(resource)
  for (const { path, message } of [...(named ? [named] : []), ...mistakesIn(resource)]) {
    yield about(object, 'value', message, { field: formatPath(path) })
  }
  const label = publicLabelIssue(resource, apiGroup)
  if (label !== undefined) {
    const field = `metadata.labels["${apiGroup}/public"]`
    yield about(object, 'public-label', label.message, { level: 'warning', field })
  }
  if (resource.kind !== 'GroupBinding') return
  const { problem } = compileBinding(resource)
  if (problem !== undefined) yield about(object, 'expression', problem)
  const ignored = ignoredBindingIssue(resource, namespace)
  if (ignored !== undefined) {
    yield about(object, 'ignored-binding', ignored.message, { level: 'warning' })
  }
}
