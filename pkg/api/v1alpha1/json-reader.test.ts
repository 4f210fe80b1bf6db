import { describe, expect, it } from 'vitest'
import { JsonReader } from './json-reader.ts'
import { parseResource } from './v1alpha1.ts'

const finding = (number: number, fields: object = {}) => ({
  vulnerabilityID: `CVE-2026-${number}`,
  pkgName: 'github.com/acme/package',
  installedVersion: 'v1.2.3',
  severity: 'HIGH',
  title: 'Somebody can do something',
  ...fields,
})
const version = (sourceScan: unknown, more: object = {}) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'Version',
  metadata: { name: 'network-1.0.0', namespace: 'team' },
  spec: { type: 'Module', version: '1.0.0' },
  status: { synced: true, sourceScan, ...more },
})
const scan = (...findings: unknown[]) => ({ scannedAt: '2026-01-01T00:00:00Z', findings })

describe('an object read from JSON', () => {
  const objects: [what: string, object: unknown][] = [
    ['an object with findings', version(scan(finding(1), finding(2)))],
    ['the event of a watch', { type: 'ADDED', object: version(scan(finding(1), finding(2))) }],
    ['a list', { items: [version(scan(finding(3))), version(scan()), version(scan(finding(1)))] }],
    ['two scans', version(scan(finding(1)), { binaryScan: scan(finding(4), finding(1)) })],
    ['no status', { kind: 'Version' }],
    ['findings that are not objects', version(scan(finding(1), null, 'x', 7))],
    ['a finding that is not valid', version(scan(finding(1), finding(2, { title: 1 })))],
    ['unknown fields of a finding', version(scan(finding(1, { primaryURL: 'https://a.example' })))],
    ['null in a finding', version(scan(finding(1, { fixedVersion: null })))],
    ['objects in a finding', version(scan(finding(1, { cvss: { score: 9 } }), finding(2)))],
    ['braces in a string', version(scan(finding(1, { title: 'a},{"b' }), finding(2)))],
    ['the end of a list in a string', version(scan(finding(1, { title: '"}],"status":{' })))],
    ['other characters', version(scan(finding(1, { title: 'größer \u{1f512} \ud800 "\\' })))],
    ['findings elsewhere', { ...version(scan(finding(1))), spec: { findings: [finding(2)] } }],
    ['a string that looks like a list', version(scan(), { syncStatus: '"findings":[{"a":1}]' })],
    ['a name that looks like a list', version(scan(finding(1)), { '\\"findings': [finding(2)] })],
    ['a scan that is a list', version([scan(finding(1))])],
    ['the value null', null],
  ]

  it.each(objects)('equals the result of JSON.parse, apart from findings: %s', (_what, object) => {
    const reader = new JsonReader()
    const text = JSON.stringify(object)
    const withoutFindings = (raw: unknown): unknown =>
      JSON.parse(JSON.stringify(raw, (name, value) => (name === 'findings' ? value.length : value)))
    const expected = withoutFindings(JSON.parse(text))
    expect(withoutFindings(reader.parse(text))).toStrictEqual(expected)
    expect(withoutFindings(reader.parse(text))).toStrictEqual(expected)
  })

  it.each(objects)('is checked like the result of JSON.parse: %s', (_what, object) => {
    const reader = new JsonReader()
    const text = JSON.stringify(object)
    const expected = parseResource('Version', JSON.parse(text))
    expect(parseResource('Version', reader.parse(text))).toEqual(expected)
    expect(parseResource('Version', reader.parse(text))).toEqual(expected)
  })

  it.each(['', '{', '{"findings":[{"a":1}', '{"status":{"sourceScan":{"findings":[{}]}}'])(
    'throws a SyntaxError for a text that is not JSON: %s',
    (text) => {
      expect(() => new JsonReader().parse(text)).toThrow(SyntaxError)
    },
  )
})

it('many Versions share one object for the same finding', () => {
  const reader = new JsonReader()
  const read = () => {
    const parsed = parseResource('Version', reader.parse(JSON.stringify(version(scan(finding(1))))))
    return parsed.ok ? parsed.resource.status?.sourceScan?.findings[0] : undefined
  }
  expect(read()).toEqual(finding(1))
  expect(read()).toBe(read())
})

it('findings whose texts share a slot are told apart', () => {
  const reader = new JsonReader()
  // The texts differ in a place that tells slots apart by chance only.
  const filler = (number: number) => `${'x'.repeat(60)}${number}${'x'.repeat(60)}`
  const texts = Array.from({ length: 50 }, (_, number) =>
    JSON.stringify(version(scan({ severity: 'LOW', title: filler(number) }))),
  )
  for (const text of [...texts, ...texts]) {
    const expected = parseResource('Version', JSON.parse(text))
    expect(parseResource('Version', reader.parse(text))).toEqual(expected)
  }
})

it('at most 2,000 findings of a scan are read', () => {
  const findings = Array.from({ length: 2_500 }, (_, number) => finding(number))
  const text = JSON.stringify(version(scan(...findings)))
  const parsed = parseResource('Version', new JsonReader().parse(text))
  const read = parsed.ok ? parsed.resource.status?.sourceScan?.findings : undefined
  expect(read).toEqual(findings.slice(0, 2_000))
})
