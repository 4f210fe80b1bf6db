/** What is wrong with a set of manifests, before anything serves them; and how that is printed. It mends nothing. */

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
import type { Finding } from './finding.ts'
import { about, groupBy, isOf, type Placed, placeOf } from './object.ts'
import { addressConflicts, Parents } from './parents.ts'
import { duplicateVersions, inVersion } from './versions.ts'

export { checks } from './finding.ts'
export { asJson, asSarif, asText } from './report.ts'

export interface LintOptions {
  /** What is wrong with a binding's expression and globs, as the server would say. */
  readonly compileBinding: (binding: GroupBinding) => { readonly problem: string | undefined }
  /** Files and folders, checked together as one registry. */
  readonly paths: readonly string[]
  readonly apiGroup: string
  /** Where GroupBindings are read. */
  readonly namespace: string
  /** Whether the manifests refer to objects that are somewhere else. */
  readonly partial: boolean
  /** Where archives of the filesystem are, to look at them too. */
  readonly filesystemMountPath?: string | undefined
}

export interface LintResult {
  readonly findings: readonly Finding[]
  readonly files: number
  readonly objects: number
}

/**
 * Checks manifests: syntax, fields, values, references, conflicts, expressions, and archives where they can be seen.
 *
 * @returns what was found, by file and line
 * @throws the error of the file system where a path leads nowhere
 */
export async function lint(options: LintOptions): Promise<LintResult> {
  const read = (
    await Promise.all(options.paths.map((path) => readManifests(path, options.apiGroup)))
  ).flat()
  const findings: Finding[] = []
  const objects: Placed[] = []
  for (const { file, entries, rejections } of read) {
    for (const { reason, line, object, field, message, others = [] } of rejections) {
      const check = reason === 'Invalid' || reason === 'Duplicate' ? 'schema' : 'syntax'
      for (const text of [message, ...others]) {
        findings.push({ check, level: 'error', file, line, object, field, message: text })
      }
    }
    for (const { key, line, resource, unknown = [] } of entries) {
      if (resource !== undefined) objects.push({ file, line, key, resource })
      for (const { path, message } of unknown) {
        findings.push(
          about({ file, line, key }, 'unknown-field', message, { field: formatPath(path) }),
        )
      }
    }
  }
  const distinct: Placed[] = []
  for (const [first, ...others] of groupBy(objects, identityOf).values()) {
    if (first !== undefined) distinct.push(first)
    for (const other of others) {
      const message = `is defined in ${placeOf(first as Placed)} already: delete one of them`
      findings.push(about(other, 'duplicate-object', message))
    }
  }
  for (const object of distinct) findings.push(...inObject(object, options))

  const parents = new Parents(distinct)
  findings.push(...addressConflicts(parents))
  const versions = distinct.filter(isOf('Version'))
  const mountPath = options.filesystemMountPath
  const mount = mountPath === undefined ? undefined : openMount(mountPath)
  for (const version of versions) {
    findings.push(...inVersion(version, parents, options))
    if (mount === undefined) continue
    const finding = await inArchive(version, parents, mount, options)
    if (finding !== undefined) findings.push(finding)
  }
  findings.push(...duplicateVersions(versions, parents))
  return { findings: findings.toSorted(byPlace), files: read.length, objects: objects.length }
}

const identityOf = ({ key }: Placed): string => `${key.kind} ${key.namespace} ${key.name}`

const byPlace = (a: Finding, b: Finding): number =>
  a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : a.file < b.file ? -1 : 1

/** What is wrong with one object, whatever stands beside it. */
function* inObject(
  object: Placed,
  { namespace, apiGroup, compileBinding }: LintOptions,
): Generator<Finding> {
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
  if (ignored !== undefined)
    yield about(object, 'ignored-binding', ignored.message, { level: 'warning' })
}
