/** Finds mistakes in manifests before anything serves them, and prints the findings. It changes no file. */

import {
  type GroupBinding,
  hiddenLabelIssue,
  ignoredBindingIssue,
  isRecord,
  mistakesIn,
  nameIssue,
  type ObjectKey,
  type ParentKind,
  publicLabelIssue,
} from '../../api/v1alpha1/v1alpha1.ts'
import { readManifests } from '../../records/folder/folder.ts'
import { itemsOf } from '../sync/sync.ts'
import { acceptedFindings } from './accepted.ts'
import { inArchive, openMount } from './archives.ts'
import {
  about,
  isOf,
  type LintFinding,
  type LintResult,
  oncePerCause,
  type PlacedObject,
  placeOf,
  repeats,
} from './finding.ts'
import { addressConflicts, ManifestParents } from './parents.ts'
import { inSources, type SourceOptions } from './sources.ts'
import { duplicateVersions, incompleteReleases, inVersion, unplacedVersions } from './versions.ts'

export { checks } from './finding.ts'
export { asJson, asSarif, asText } from './report.ts'

export interface LintOptions extends SourceOptions {
  /** Compiles a binding's expression and globs as the server does. */
  readonly compileBinding: (binding: GroupBinding) => CompiledBinding
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

/**
 * Checks manifests: syntax, fields, values, references, sources, conflicts, expressions, and archives if a mount is given.
 *
 * @returns findings by file and line
 * @throws the error of the file system if a path does not exist
 */
export async function lint(options: LintOptions): Promise<LintResult> {
  const { paths, apiGroup, archives, partial } = options
  const sets = await Promise.all(paths.map((path) => readManifests(path, apiGroup)))
  const read = sets.flat()
  const { findings, objects, rejected } = findingsOf(read)
  findings.push(...unrecognised(sets, options))
  const duplicates = new Set<PlacedObject>()
  for (const [first, other] of repeats(objects, identityOf)) {
    const message = `is defined in ${placeOf(first)} already: delete one of them`
    findings.push(about(other, 'duplicate-object', message))
    duplicates.add(other)
  }
  const distinct = objects.filter((object) => !duplicates.has(object))
  for (const object of distinct) findings.push(...inObject(object, options))
  if (!partial) findings.push(...betweenObjects(distinct, options))

  const parents = new ManifestParents(distinct, rejected)
  findings.push(...addressConflicts(parents))
  const versions = distinct.filter(isOf('Version'))
  const surroundings = { parents, partial }
  findings.push(...unplacedVersions(versions, surroundings))
  const mount = archives === undefined ? undefined : openMount(archives)
  const ofArchives: LintFinding[] = []
  for (const version of versions) {
    findings.push(...inVersion(version, surroundings))
    if (mount === undefined) continue
    for await (const finding of inArchive(version, parents, mount, options)) {
      ofArchives.push(finding)
    }
  }
  // A folder that does not exist is one mistake, however many archives should be in it.
  findings.push(
    ...oncePerCause(
      ofArchives,
      ({ message }) => message,
      (finding) => finding,
    ),
  )
  findings.push(...duplicateVersions(versions, parents), ...acceptedFindings(parents, versions))
  findings.push(...incompleteReleases(versions, surroundings))
  return { findings: findings.toSorted(byPlace), files: read.length, objects: objects.length }
}

/** Finds paths without any object of ours: an error if there is none at all. */
function* unrecognised(
  sets: readonly Awaited<ReturnType<typeof readManifests>>[],
  { paths, apiGroup }: LintOptions,
): Generator<LintFinding> {
  const isEmpty = (set: (typeof sets)[number]) =>
    set.every(({ entries, rejections }) => entries.length + rejections.length === 0)
  const level = sets.every(isEmpty) ? 'error' : 'warning'
  for (const [index, set] of sets.entries()) {
    if (!isEmpty(set)) continue
    const message = `nothing here has apiVersion ${apiGroup}/v1alpha1, in ${set.length} files that end in .yaml, .yml or .json: correct the path, the apiVersion or --api-group`
    const place = { file: paths[index] ?? '', line: undefined, object: undefined }
    yield { check: 'nothing-found', level, ...place, message }
  }
}

/** Collects the objects of files, and the mistakes of reading them. */
function findingsOf(read: Awaited<ReturnType<typeof readManifests>>) {
  const findings: LintFinding[] = []
  const objects: PlacedObject[] = []
  const rejected: ObjectKey[] = []
  for (const { file, entries, rejections } of read) {
    for (const { reason, line, object, field, message, others = [] } of rejections) {
      const check = reason === 'Invalid' || reason === 'Duplicate' ? 'schema' : 'syntax'
      const place = { check, level: 'error', file, line, object } as const
      findings.push({ ...place, field, message })
      for (const text of others) findings.push({ ...place, message: text })
    }
    for (const { key, line, object: resource, written, unknown = [] } of entries) {
      if (resource === undefined) {
        rejected.push(key)
        continue
      }
      const placed = { file, line, key, resource, written }
      objects.push(placed)
      for (const { path, message } of unknown) {
        findings.push(about(placed, 'unknown-field', message, { path }))
      }
    }
  }
  return { findings, objects, rejected }
}

const identityOf = ({ key }: PlacedObject): string => `${key.kind} ${key.namespace} ${key.name}`

const byPlace = (a: LintFinding, b: LintFinding): number =>
  a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : a.file < b.file ? -1 : 1

/** Checks one object by itself. */
function* inObject(object: PlacedObject, options: LintOptions): Generator<LintFinding> {
  const { resource } = object
  const named = nameIssue(resource)
  for (const { path, message } of [...(named ? [named] : []), ...mistakesIn(resource)]) {
    yield about(object, 'value', message, { path })
  }
  yield* inSources(object, options)
  const label = publicLabelIssue(resource, options.apiGroup)
  if (label !== undefined) {
    yield about(object, 'public-label', label.message, { level: 'warning', path: label.path })
  }
  if (resource.kind !== 'GroupBinding') return
  const { problem } = options.compileBinding(resource)
  if (problem !== undefined) {
    const field = problem.startsWith('moduleResources') ? 'moduleResources' : 'expression'
    const line = object.written?.lineOf(['spec', field]) ?? object.line
    yield about({ ...object, line }, 'expression', problem)
  }
  const ignored = ignoredBindingIssue(resource, options.namespace)
  if (ignored !== undefined) {
    yield about(object, 'ignored-binding', ignored.message, {
      level: 'warning',
      path: ignored.path,
    })
  }
}

/** Checks references between objects, unless some of the objects are elsewhere. */
function* betweenObjects(
  objects: readonly PlacedObject[],
  { apiGroup, compileBinding }: LintOptions,
): Generator<LintFinding> {
  const names = parentNames(objects)
  for (const binding of objects.filter(isOf('GroupBinding'))) {
    const compiled = compileBinding(binding.resource)
    if (compiled.problem === undefined) yield* unmatchedNames(binding, compiled, names)
  }
  const publicNamespaces = new Set(
    objects
      .filter(({ resource: { metadata } }) => metadata.labels[`${apiGroup}/public`] === 'true')
      .flatMap(({ key }) => (key.kind === 'Namespace' ? [key.name] : [])),
  )
  const hidden = objects.flatMap((object) => {
    const issue = hiddenLabelIssue(object.resource, apiGroup, (name) => publicNamespaces.has(name))
    return issue === undefined ? [] : [{ object, issue }]
  })
  yield* oncePerCause(
    hidden,
    ({ object }) => object.key.namespace,
    ({ object, issue: { path, message } }) =>
      about(object, 'public-label', message, { level: 'warning', path }),
  )
  const unnamed = (object: PlacedObject) => writtenNamespace(object) === undefined
  const spaced = objects.filter(({ key }) => key.kind !== 'Namespace')
  if (spaced.every(unnamed)) return
  for (const object of spaced.filter(unnamed)) {
    const message = 'is required: without it, the object is in namespace default'
    yield about(object, 'no-namespace', message, {
      level: 'warning',
      path: ['metadata', 'namespace'],
    })
  }
}

function writtenNamespace({ written }: PlacedObject): unknown {
  const metadata = written?.value['metadata']
  return isRecord(metadata) ? metadata['namespace'] : undefined
}

/** A GroupBinding as the server compiles it. */
interface CompiledBinding {
  readonly problem: string | undefined
  /** A function for each pattern of moduleResources. */
  readonly modules: readonly ((name: string) => boolean)[]
}

/** Finds names and patterns that match no module or provider, not even one that a Depot of the manifests will create. */
function* unmatchedNames(
  binding: PlacedObject<GroupBinding>,
  { modules }: CompiledBinding,
  names: Readonly<Record<ParentKind, readonly string[]>>,
): Generator<LintFinding> {
  if (names.Module.length + names.Provider.length === 0) return
  const { moduleResources = [], providerResources = [] } = binding.resource.spec
  const unmatched = (kind: ParentKind, field: string, index: number, text: string) =>
    about(
      binding,
      'no-match',
      `${JSON.stringify(text)} matches no ${kind.toLowerCase()} of these manifests: write the metadata.name of one`,
      { level: 'warning', path: ['spec', field, index] },
    )
  for (const [index, text] of moduleResources.entries()) {
    if (modules[index] === undefined || names.Module.some(modules[index])) continue
    yield unmatched('Module', 'moduleResources', index, text)
  }
  for (const [index, text] of providerResources.entries()) {
    if (text === '*' || names.Provider.includes(text)) continue
    yield unmatched('Provider', 'providerResources', index, text)
  }
}

/** The names of modules and providers that bindings refer to. */
function parentNames(
  objects: readonly PlacedObject[],
): Readonly<Record<ParentKind, readonly string[]>> {
  const made = objects.filter(isOf('Depot')).flatMap(({ resource }) => itemsOf(resource, []))
  const namesOf = (kind: ParentKind): string[] => [
    ...objects.filter(isOf(kind)).map(({ key }) => key.name),
    ...made.flatMap((item) => (item.kind === kind ? [item.objectName] : [])),
  ]
  return { Module: namesOf('Module'), Provider: namesOf('Provider') }
}
