import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { notices } from './notices.ts'
import { packagesOfImage } from './packages.ts'
import { sbom } from './sbom.ts'
import { goModules, nodeOf, systemPackages } from './system-packages.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-sbom-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const packageOf = (name: string, license: string) => ({
  name,
  SPDXID: `SPDXRef-Package-${name}-1.0.0`,
  versionInfo: '1.0.0',
  packageFileName: `node_modules/${name}`,
  licenseDeclared: license,
})

const packages = [packageOf('one', 'MIT'), packageOf('two', 'MIT'), packageOf('three', 'ISC')]
const system = [{ name: 'libstdc++6', version: '1:12.2+b1', architecture: 'amd64' }]
const node = { version: '24.21.0', sha256: 'a'.repeat(64) }
const modules = [{ name: 'github.com/Masterminds/semver/v3', version: 'v3.4.0' }]
const document = (epoch: number) =>
  sbom({ name: 'depot', version: '1.2.3', epoch, packages, system, modules, node })

it('the bill of materials names every package, and the same inputs give the same file', () => {
  const parsed = JSON.parse(document(1_700_000_000))
  expect(parsed.packages.map(({ name }: { name: string }) => name)).toEqual([
    'depot',
    'one',
    'two',
    'three',
    'node',
    'libstdc++6',
    'github.com/Masterminds/semver/v3',
  ])
  expect(parsed.creationInfo.created).toBe('2023-11-14T22:13:20Z')
  expect(parsed.packages[4]).toMatchObject({
    versionInfo: '24.21.0',
    licenseDeclared: 'MIT',
    checksums: [{ algorithm: 'SHA256', checksumValue: node.sha256 }],
  })
  expect(parsed.packages[5].externalRefs[0].referenceLocator).toBe(
    'pkg:deb/debian/libstdc%2B%2B6@1%3A12.2%2Bb1?arch=amd64',
  )
  expect(parsed.packages[6].externalRefs[0].referenceLocator).toBe(
    'pkg:golang/github.com/Masterminds/semver/v3@v3.4.0',
  )
  expect(parsed.relationships).toHaveLength(6)
  expect(document(1_700_000_000)).toBe(document(1_700_000_000))
})

it('the system packages are those of status.d, without checksums', () => {
  const folder = join(dir, 'status.d')
  mkdirSync(folder)
  const control = 'Package: libc6\nArchitecture: amd64\nVersion: 2.36-9\nDescription: C\n more\n'
  writeFileSync(join(folder, 'libc6'), control)
  writeFileSync(join(folder, 'libc6.md5sums'), 'x')
  expect(systemPackages(folder)).toEqual([
    { name: 'libc6', version: '2.36-9', architecture: 'amd64' },
  ])
  expect(systemPackages(join(dir, 'missing'))).toEqual([])
})

it('the Go modules are those of the list of Trivy, if the base has it', () => {
  const file = join(dir, 'modules')
  writeFileSync(file, 'github.com/a/b/v3@v3.4.0\ngolang.org/x/mod@v0.34.0\n')
  expect(goModules(file)).toEqual([
    { name: 'github.com/a/b/v3', version: 'v3.4.0' },
    { name: 'golang.org/x/mod', version: 'v0.34.0' },
  ])
  expect(goModules(join(dir, 'missing'))).toEqual([])
})

it('reads the version of a Node binary from the binary', () => {
  const { version, sha256 } = nodeOf(process.execPath)
  expect(version).toBe(process.versions.node)
  expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  const other = join(dir, 'other')
  writeFileSync(other, 'x')
  expect(() => nodeOf(other)).toThrow('other is not a release of Node')
})

it('notices print a text once for all packages that share it', () => {
  for (const name of ['one', 'two']) {
    mkdirSync(join(dir, 'node_modules', name), { recursive: true })
    writeFileSync(join(dir, 'node_modules', name, 'LICENSE'), 'The same words.\r\n')
  }
  const text = notices(dir, packages, { system, modules, node })
  expect(text).toContain('one 1.0.0 (MIT)\ntwo 1.0.0 (MIT)\n\nThe same words.\n')
  expect(text).toContain('three 1.0.0 (ISC)\n\nLicense: ISC\n')
  expect(text).toContain('libstdc++6 1:12.2+b1\n')
  expect(text).toMatch(/Go modules of Trivy.*\n\ngithub\.com\/Masterminds\/semver\/v3 v3\.4\.0\n/)
  expect(text).toContain('Node.js 24.21.0: see https://github.com/nodejs/node/blob/v24.21.0/')
})

it('includes everything that the bundler includes, even after Vite has set the environment to production', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  // Packages of the program that packages for development need as well, and one of the pages.
  const files = ['zod/index.js', 'jose/index.js', 'preact/index.js']
  const found = await packagesOfImage(files.map((file) => `node_modules/${file}`))
  const names = found.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['zod', 'jose', 'preact', 'hono']))
  expect(names).not.toContain('vitest')
}, 120_000)
