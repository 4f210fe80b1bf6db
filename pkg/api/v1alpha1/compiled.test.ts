import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { compile, type z } from 'zod'
import { checkFinding } from './scan.ts'
import { isRecord, kindNames, kinds, parseResource } from './v1alpha1.ts'

const samples = ['depot', 'group-binding', 'hello', 'namespaces', 'network']
  .map((name) => join(import.meta.dirname, `../../../config/samples/${name}.yaml`))
  .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')))
  .map((document): unknown => document.toJS())
  .filter(isRecord)

const strange: readonly unknown[] = [
  undefined,
  null,
  -7,
  0.5,
  '',
  'text',
  true,
  [],
  {},
  [{}],
  { a: 'b' },
]

/** The object, and copies of it in which one value is replaced by a strange one. */
function* variantsOf(value: unknown): Generator {
  yield* strange
  if (Array.isArray(value)) {
    for (const [at, one] of value.entries())
      for (const other of variantsOf(one)) yield value.with(at, other)
  } else if (isRecord(value)) {
    for (const [key, one] of Object.entries(value))
      for (const other of variantsOf(one)) yield { ...value, [key]: other }
  }
}

it.each(kindNames)('the compiled schema of a %s gives what the schema gives', (kind) => {
  const { schema } = kinds[kind]
  const parse = compile<z.ZodType>(schema, { strict: true })
  const own = samples.filter((sample) => sample['kind'] === kind)
  expect(own).not.toEqual([])
  for (const raw of own.flatMap((sample) => [sample, ...variantsOf(sample)])) {
    const [found, expected] = [parse, schema].map((one) => {
      const { data, error } = one.safeParse(raw)
      return { raw, data, issues: error?.issues }
    })
    expect(found).toEqual(expected)
  }
})

it('shares findings that were read before once the schema is compiled', () => {
  const finding = checkFinding({ vulnerabilityID: 'CVE-1' })
  const raw = {
    metadata: { name: 'vpc-1.0.0' },
    spec: { type: 'Module', version: '1.0.0' },
    status: { sourceScan: { findings: [finding] } },
  }
  for (let count = 0; count < 2_000; count += 1) {
    const parsed = parseResource('Version', raw)
    const status = parsed.ok && parsed.resource.status
    expect(status && status.sourceScan?.findings[0]).toBe(finding)
  }
})
