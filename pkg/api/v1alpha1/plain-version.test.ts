import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { JsonReader } from './json-reader.ts'
import { plainVersion } from './plain-version.ts'
import { isRecord } from './record.ts'
import { Version } from './version.ts'

const texts = ['', 'a', 'network', '1.0.0', '15m', 'False', '2026-01-01T00:00:00Z', '__proto__']
const odd = [null, '', 'x', 7, -1, 0.5, true, [], [1], {}, { name: 7 }, ['']]
const oneInMany = 150

/** Random input for a schema: mostly valid values, with any of the optional fields, some unknown ones and some mistakes. */
function inputOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: oneInMany, arbitrary: validOf(schema) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  )
}

function validOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return validOf(schema.unwrap())
  if (schema instanceof z.ZodObject) return objectOf(schema)
  if (schema instanceof z.ZodArray) return fc.array(inputOf(schema.element), { maxLength: 2 })
  if (schema instanceof z.ZodRecord) return fc.dictionary(fc.constantFrom(...texts), text)
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options)
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values)
  if (schema instanceof z.ZodBoolean) return fc.boolean()
  if (schema instanceof z.ZodNumber) return fc.nat()
  if (schema instanceof z.ZodString) return text
  throw new Error('no values are made up for such a schema yet')
}

const text = fc.constantFrom(...texts)

/** Its fields in either order, because clusters have them in an order of their own. */
function objectOf({ shape }: z.ZodObject): fc.Arbitrary<object> {
  const fieldsOf = (absentToOne: number) =>
    fc.record(
      Object.fromEntries(
        Object.entries(shape).map(([name, field]) => [name, mostlyAbsent(field, absentToOne)]),
      ),
    )
  return fc
    .tuple(fc.oneof(fieldsOf(1), fieldsOf(15)), fc.boolean(), fc.nat(20))
    .map(([object, isReversed, number]) => {
      const entries = Object.entries(object)
      if (number === 0) entries.push(['managedFields', [{ manager: 'kubectl' }]])
      return Object.fromEntries(isReversed ? entries.toReversed() : entries)
    })
}

function mostlyAbsent(field: z.core.$ZodType, absentToOne: number): fc.Arbitrary<unknown> {
  const isOptional = z.safeParse(field, undefined).success
  if (!isOptional) return inputOf(field)
  return fc.oneof(
    { weight: absentToOne, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: inputOf(field) },
  )
}

/** A Version is read as its schema reads it, in the same order of fields. @returns whether it is valid */
function expectSame(raw: unknown): boolean {
  if (!isRecord(raw)) return false
  const expected = Version.safeParse({ ...raw, kind: 'Version' }).data
  const read = plainVersion(raw)
  expect(read).toStrictEqual(expected)
  expect(JSON.stringify(read)).toBe(JSON.stringify(expected))
  return read !== undefined
}

it('equals the result of the schema for random values', () => {
  const seen = { valid: 0, not: 0 }
  fc.assert(
    fc.property(inputOf(Version), (made) => {
      const json = JSON.stringify(made)
      expectSame(new JsonReader().parse(json))
      seen[expectSame(JSON.parse(json)) ? 'valid' : 'not'] += 1
    }),
    { numRuns: 1000 },
  )
  expect(seen.valid).toBeGreaterThan(100)
  expect(seen.not).toBeGreaterThan(100)
})

const s3 = { bucket: 'archives', region: 'eu-west-1', key: 'modules' }
const owner = { apiVersion: 'depot.internal/v1alpha1', kind: 'Module', name: 'network', uid: 'a' }
const finding = { vulnerabilityID: 'CVE-2026-1', pkgName: 'a', severity: 'HIGH', title: 'b' }
const usual = {
  metadata: {
    name: 'network-1.0.0',
    namespace: 'team',
    uid: 'b',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 1,
    ownerReferences: [{ ...owner, controller: true }],
  },
  status: {
    checksum: 'abc',
    synced: true,
    syncStatus: 'synced',
    archiveSizeBytes: 1,
    sourceScan: { scannedAt: '2026-01-01T00:00:00Z', findings: [finding] },
  },
}
const moduleConfigRef = {
  name: 'network',
  provider: 'aws',
  repoOwner: 'acme',
  repoUrl: 'https://example.com',
  storageConfig: { s3 },
}
const providerConfigRef = {
  name: 'tool',
  namespace: 'acme',
  protocols: ['5.0'],
  storageConfig: { s3 },
}
const platform = { operatingSystem: 'linux', architecture: 'amd64' }

it.each([
  { type: 'Module', version: '1.0.0', fileName: 'a.zip', moduleConfigRef },
  { type: 'Provider', version: '1.0.0', fileName: 'a.zip', ...platform, providerConfigRef },
])('equals the result of the schema for a $type with any one field absent or wrong', (spec) => {
  const version = { ...usual, spec }
  expect(expectSame(new JsonReader().parse(JSON.stringify(version)))).toBe(true)
  for (const path of pathsIn(version).slice(1)) {
    for (const value of [undefined, ...odd]) {
      const json = JSON.stringify(withValue(version, path, value))
      expectSame(JSON.parse(json))
      expectSame(new JsonReader().parse(json))
    }
  }
})

type Path = readonly string[]

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inside = Object.entries(value).flatMap(([name, one]) => pathsIn(one, [...path, name]))
  return [path, ...inside]
}

function withValue(object: object, path: Path, value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  const inside = withValue(Reflect.get(object, name) as object, rest, value)
  if (Array.isArray(object)) return object.with(Number(name), inside)
  return { ...object, [name]: inside }
}
