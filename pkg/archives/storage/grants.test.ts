import { describe, expect, it } from 'vitest'
import { cpuTimeMs } from '../../../hack/testbed/cpu-time.ts'
import { parseGrants, StorageGrants } from './places.ts'

const mountPath = '/var/lib/depot'

function allows(grants: { text?: string; annotation?: string }, url: string): boolean {
  return new StorageGrants({
    text: grants.text,
    annotationOf: (namespace) => (namespace === 'team-a' ? grants.annotation : undefined),
    mountPath,
  }).allows('team-a', url)
}

describe('an annotation', () => {
  it.each([
    ['s3://bucket', 's3://bucket/vpc/1.zip', true],
    ['s3://bucket/', 's3://bucket/vpc/1.zip', true],
    ['s3://bucket/team-a', 's3://bucket/team-a/vpc/1.zip', true],
    ['s3://bucket/team-a', 's3://bucket/team-ab/vpc/1.zip', false],
    ['s3://bucket/team-a', 's3://bucket/vpc/team-a/1.zip', false],
    ['s3://bucket', 's3://bucket-b/vpc/1.zip', false],
    ['s3://bucket', 'gs://bucket/vpc/1.zip', false],
    ['s3://team-*', 's3://team-a/vpc/1.zip', true],
    ['s3://team-*/a', 's3://team-x/y/a/1.zip', false],
    ['s3://*', 's3://any/vpc/1.zip', true],
    ['azure://account/vpc', 'azure://account/vpc/1.zip', true],
    ['azure://account/vpc', 'azure://account/other/1.zip', false],
    ['azure://account', 'azure://account/other/1.zip', true],
    ['gs://bucket/vpc', 'gs://bucket/vpc/1.zip', true],
    ['file:///team-a', 'file:///team-a/vpc/1.zip', true],
    ['file:///var/lib/depot/team-a', 'file:///team-a/vpc/1.zip', true],
    ['file:///', 'file:///team-a/vpc/1.zip', true],
    ['file:///team-a', 'file:///team-b/vpc/1.zip', false],
    ['*', 's3://any/vpc/1.zip', true],
    ['', 's3://any/vpc/1.zip', false],
    ['  s3://one , s3://two\n', 's3://two/vpc/1.zip', true],
    ['https://bucket', 's3://bucket/vpc/1.zip', false],
    ['s3:///vpc', 's3://bucket/vpc/1.zip', false],
    ['s3://bucket/../other', 's3://other/vpc/1.zip', false],
    ['bucket', 's3://bucket/vpc/1.zip', false],
  ])('%j for %s: %s', (annotation, url, expected) => {
    expect(allows({ annotation }, url)).toBe(expected)
  })

  it('is read again when it changes, and grants nothing to other namespaces', () => {
    let annotation = 's3://one'
    const grants = new StorageGrants({ annotationOf: () => annotation, mountPath })
    expect(grants.allows('team-a', 's3://one/x/1.zip')).toBe(true)
    annotation = 's3://two'
    expect(grants.allows('team-a', 's3://one/x/1.zip')).toBe(false)
    expect(allows({ annotation }, 's3://one/x/1.zip')).toBe(false)
  })

  it('reports invalid locations and keeps the rest', () => {
    const invalid: string[] = []
    const onInvalid = (namespace: string, part: string) => invalid.push(`${namespace} ${part}`)
    const annotationOf = () => 's3:/bucket s3://bucket'
    const grants = new StorageGrants({ annotationOf, onInvalid, mountPath })
    expect(grants.allows('team-a', 's3://bucket/x/1.zip')).toBe(true)
    expect(grants.allows('team-a', 's3://bucket/x/1.zip')).toBe(true)
    expect(invalid).toEqual(['team-a s3:/bucket'])
  })

  it('is cheap with 256 kB of places and a name of 1 kB', () => {
    const annotation = Array.from({ length: 20_000 }, () => 's3://*a*a*b').join(' ')
    const url = `s3://${'a'.repeat(200)}/${'a'.repeat(1000)}`
    const grants = new StorageGrants({ annotationOf: () => annotation, mountPath })
    grants.allows('team-a', url)
    const before = cpuTimeMs()
    expect(grants.allows('team-a', url)).toBe(false)
    expect(cpuTimeMs() - before).toBeLessThan(250)
  })
})

describe('--storage-grants', () => {
  it.each([
    ['*=*', true],
    ['team-*=s3://bucket', true],
    ['team-b=s3://bucket', false],
    ['team-b=s3://bucket team-a=s3://bucket/vpc', true],
    ['team-a=s3://other s3://bucket', true],
    ['team-a=s3://other, team-b=s3://bucket', false],
  ])('%j grants team-a the bucket: %s', (text, expected) => {
    expect(allows({ text }, 's3://bucket/vpc/1.zip')).toBe(expected)
  })

  it.each([
    ['s3://bucket', 'has no namespace'],
    ['team-a=bucket', 'is not a valid location'],
    ['team-a=', 'is not a valid location'],
    ['team-a=http://bucket', 'is not a valid location'],
  ])('%j is refused', (text, problem) => {
    expect(parseGrants(text).problems.join()).toContain(problem)
    expect(() => new StorageGrants({ text, mountPath })).toThrow(problem)
  })
})
