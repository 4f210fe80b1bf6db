import { expect, it } from 'vitest'
import { trivyScanner } from './scan.ts'

const trivy = trivyScanner({ command: 'trivy', cacheDir: 'cache', isOffline: true })
const report = (Results?: object[]) => Buffer.from(JSON.stringify({ SchemaVersion: 2, Results }))

it('finds nothing in a module without anything to check', () => {
  expect(trivy.findingsIn(report(), 'source')).toEqual([])
  expect(trivy.findingsIn(report([{ Target: '.', Class: 'secret' }]), 'source')).toEqual([])
})

it('does not know what is in a program whose packages it cannot read', () => {
  const result = { Target: 'x', Class: 'lang-pkgs' }
  expect(trivy.findingsIn(report([result]), 'binary')).toEqual([])
  expect(() => trivy.findingsIn(report(), 'binary')).toThrow('recognised no packages')
})

it('refuses a report that would take long to read', () => {
  const results = Array.from({ length: 1_000_001 }, () => ({}))
  expect(() => trivy.findingsIn(report(results), 'source')).toThrow(
    'trivy wrote JSON of more than 1000000 values',
  )
})
