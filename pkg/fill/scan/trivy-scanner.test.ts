import { expect, it } from 'vitest'
import { trivyScanner } from './scan.ts'

const trivy = trivyScanner({ command: 'trivy', cacheDir: 'cache', isOffline: true })
const report = (Results?: object[]) => Buffer.from(JSON.stringify({ SchemaVersion: 2, Results }))

it('finds nothing in a module without anything to check', () => {
  expect(trivy.findingsIn(report(), 'source', [])).toEqual([])
  expect(trivy.findingsIn(report([{ Target: '.', Class: 'secret' }]), 'source', [])).toEqual([])
})

it('does not know what is in a program whose packages it cannot read', () => {
  const name = 'terraform-provider-random_v1.0.0'
  const inBinary = (results: object[], ...others: string[]) =>
    trivy.findingsIn(report(results), 'binary', [name, ...others])
  const program = { Target: name, Class: 'lang-pkgs', Type: 'gobinary' }
  // Trivy recognises packages beside the program, too.
  const beside = { Target: 'Node.js', Class: 'lang-pkgs', Type: 'node-pkg' }
  expect(inBinary([beside, program])).toEqual([])
  const refusal = `trivy recognised no packages in ${name}`
  for (const results of [[], [beside], [{ ...beside, Target: name }]]) {
    expect(() => inBinary(results)).toThrow(refusal)
  }
  expect(() => inBinary([program], `${name}.exe`)).toThrow(`${refusal}.exe`)
  expect(() => trivy.findingsIn(report([program]), 'binary', [])).toThrow('in the archive')
})

it('does not know a source without packages', () => {
  const inSource = (results: object[]) => trivy.findingsIn(report(results), 'dependencies', [])
  expect(inSource([{ Target: 'go.mod', Class: 'lang-pkgs', Type: 'gomod' }])).toEqual([])
  expect(() => inSource([])).toThrow('recognised no packages in go.mod and go.sum')
})

it('refuses a report that would take long to read', () => {
  const results = Array.from({ length: 1_000_001 }, () => ({}))
  expect(() => trivy.findingsIn(report(results), 'source', [])).toThrow(
    'trivy wrote JSON of more than 1000000 values',
  )
})
