/**
 * The custom resources: a schema for each kind, from which types, parser, definition and rules are derived; and the interface
 * by which sources report changes.
 */

import { compile, type z } from 'zod'
import type { Depot } from './depot.ts'
import type { GroupBinding } from './group-binding.ts'
import { isRecord } from './json-reader.ts'
import { apiVersion, type Kind, kinds } from './kinds.ts'
import { mistakesIn } from './mistakes.ts'
import type { Module } from './module.ts'
import type { Namespace } from './namespace.ts'
import type { Provider } from './provider.ts'
import type {
  ComparableSink,
  FieldIssue,
  ParsedResource,
  Resource,
  ResourceOf,
  ResourceSink,
} from './types.ts'
import type { Version } from './version.ts'

export * from './archive.ts'
export type { ArchiveDocs, ArchiveSource, Artifact } from './artifact.ts'
export type { Compared } from './compared.ts'
export { type Condition, conditionOf } from './condition.ts'
export { secondsOf } from './go-duration.ts'
export { isRecord, JsonReader } from './json-reader.ts'
export * from './kinds.ts'
export * from './mistakes.ts'
export type { ModuleConfig } from './module.ts'
export type { ProviderConfig } from './provider.ts'
export type { Published, PublishedBy } from './published.ts'
export * from './release.ts'
export type { ParentKind } from './rules.ts'
export { CheckedFinding, type Scan, type ScanSummary, type SecurityFinding } from './scan.ts'
export { holdsUnscanned, type ScanPolicy } from './scan-policy.ts'
export { type Backend, backendOf, backends, StorageConfig } from './storage-config.ts'
export { type StructuralSchema, structuralSchema } from './structural-schema.ts'
export type * from './types.ts'
export * from './upstream-policy.ts'
export { interfaceKey } from './version.ts'
export type { Depot, GroupBinding, Module, Namespace, Provider, Version }

/** The `apiVersion` that manifests of a kind carry. */
export function apiVersionOf(kind: Kind, apiGroup: string): string {
  return kinds[kind].core ? 'v1' : `${apiGroup}/${apiVersion}`
}

/**
 * Checks an object and keeps the fields that Depot reads. Unknown fields are dropped. Null counts as absent, as it does for the
 * API server. A wrong type is reported with its path.
 *
 * @param raw one object as parsed from JSON or YAML
 */
export function parseResource<K extends Kind>(
  kind: K,
  raw: unknown,
): ParsedResource<ResourceOf<K>> {
  const schema = parserOf(kind)
  const withKind = isRecord(raw) ? { ...raw, kind } : raw
  let result = schema.safeParse(withKind)
  if (!result.success && isRecord(withKind)) result = schema.safeParse(withoutNulls(withKind))
  if (result.success) return accepted(result.data as ResourceOf<K>, raw)
  return { ok: false, issues: result.error.issues.map((issue) => toFieldIssue(issue, withKind)) }
}

/** Number of objects of a kind after which its schema is compiled. That takes up to 40 ms, as long as 10,000 objects save. */
const compiledAfter = 1_000
const counts = new Map<Kind, number>()
const compiled = new Map<Kind, z.ZodType>()

function parserOf(kind: Kind): z.ZodType {
  const ready = compiled.get(kind)
  if (ready !== undefined) return ready
  const { schema } = kinds[kind]
  const count = (counts.get(kind) ?? 0) + 1
  counts.set(kind, count)
  if (count === compiledAfter) compiled.set(kind, compile(schema))
  return schema
}

/**
 * Checks a status that is stored without its spec.
 *
 * @param raw an object that has nothing but a name and a status
 */
export function parseStatus(
  kind: Kind,
  raw: Readonly<Record<string, unknown>>,
):
  | { readonly ok: true; readonly status: unknown }
  | Extract<ParsedResource<Resource>, { ok: false }> {
  const { shape } = kinds[kind].schema
  if (!('status' in shape)) {
    return { ok: false, issues: [{ path: ['status'], message: `is not a field of a ${kind}` }] }
  }
  const status = withoutNulls(raw['status'])
  const result = shape.status.safeParse(status)
  if (result.success) return { ok: true, status: result.data }
  const issues = result.error.issues.map((issue) => toFieldIssue(issue, status))
  return {
    ok: false,
    issues: issues.map(({ path, message }) => ({ path: ['status', ...path], message })),
  }
}

function accepted<R extends Resource>(resource: R, raw: unknown): ParsedResource<R> {
  dropForeignOwners(resource, raw)
  return { ok: true, resource }
}

/** Everything that is wrong with an object: its fields, or the rules that they break. */
export function problemsIn(kind: Kind, raw: unknown): readonly FieldIssue[] {
  const parsed = parseResource(kind, raw)
  return parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
}

/** `spec.versions[0].version`, as kubectl prints it. */
export function formatPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

/** Drops owners of other API groups, whose kinds may have the same names. */
function dropForeignOwners({ metadata }: Resource, raw: unknown): void {
  const own = isRecord(raw) ? raw['apiVersion'] : undefined
  if (metadata.ownerReferences.length === 0 || typeof own !== 'string') return
  const group = own.slice(0, own.indexOf('/') + 1)
  metadata.ownerReferences = metadata.ownerReferences.filter((owner) =>
    owner.apiVersion.startsWith(group),
  )
}

/** @param raw the object, to say which value is wrong */
function toFieldIssue(issue: z.core.$ZodIssue, raw: unknown): FieldIssue {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
  const found = valueAt(raw, path)
  if (issue.code === 'invalid_type') {
    if (found === undefined) return { path, message: `is required (${issue.expected})` }
    const isUnquoted = issue.expected === 'string' && typeof found !== 'object'
    const advice = isUnquoted ? ': put it in quotes' : ''
    return { path, message: `must be ${named(issue.expected)}, and is ${typeOf(found)}${advice}` }
  }
  if (issue.code !== 'invalid_value') return { path, message: issue.message }
  const values = issue.values.map((value) => JSON.stringify(value)).join(' or ')
  return { path, message: `must be ${values}, and is ${textOf(found)}` }
}

function valueAt(raw: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, step) => {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    return isThere ? (value as Record<string | number, unknown>)[step] : undefined
  }, raw)
}

const named = (type: string): string => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Date) return 'a date'
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${textOf(value)}`
}

const maxText = 80

function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return typeOf(value)
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}

/** A copy of a value without fields that are null. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, child]) => child !== null)
      .map(([key, child]) => [key, withoutNulls(child)]),
  )
}

/** Passes everything on to several sinks, in their order. The first one knows all of it. */
export function fanOut(first: ComparableSink, ...others: readonly ResourceSink[]): ComparableSink {
  const sinks = [first, ...others]
  return {
    holds: (key, state) => first.holds(key, state),
    count: (kind) => first.count(kind),
    apply(change) {
      for (const sink of sinks) sink.apply(change)
    },
    beginReplace(kind) {
      const replacements = sinks.map((sink) => sink.beginReplace(kind))
      return {
        add: (resource) => replacements.forEach((it) => it.add(resource)),
        keep: (key) => replacements.forEach((it) => it.keep(key)),
        commit: async () => {
          for (const replacement of replacements) await replacement.commit()
        },
      }
    },
  }
}
