import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depot } from '../../cmd/import/import.fixture.ts'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'
import { moduleObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { startServer } from '../../hack/testbed/server/server.ts'
import { createUpstreamAuthority } from '../../hack/testbed/upstream/https-server.ts'

/* Each CLI ran init in its folder, and the registry is a server of Depot. */

const registry = new Registry()
const authority = createUpstreamAuthority()
const versions = ['1.0.0', '1.1.0', '1.2.0', '2.0.0'].map((version) => ({
  version,
  fileName: `net-${version}.zip`,
}))
const finding = {
  vulnerabilityID: 'AVD-1',
  pkgName: '',
  installedVersion: '',
  severity: 'CRITICAL',
  title: 'open to everyone',
}
let host: string
let url: string

beforeAll(async () => {
  await registry.sign()
  await writeSamples(registry, ['hello.yaml'])
  const hello = readFileSync(join(registry.manifests, 'hello.yaml'), 'utf8')
  const line = `spec:\n  lifecycle: ${JSON.stringify([{ versions: '1.0.0', state: 'Deprecated', replacedBy: '1.1.0' }])}\n  providerConfig:`
  registry.writeText('hello.yaml', hello.replace('spec:\n  providerConfig:', line))
  for (const { version, fileName } of versions) {
    const content = Buffer.from(`output "version" { value = "${version}" }\n`)
    const archive = await zipOf([{ path: 'main.tf', content }])
    for (const { name } of clis) registry.archive(`modules/net-${name}/${fileName}`, archive)
  }
  for (const { name } of clis) write(name)
  const { certFile, keyFile } = authority.authority.server('registry')
  const server = await startServer(registry, '--tls-cert-path', certFile, '--tls-cert-key', keyFile)
  ;({ url } = server)
  ;({ host } = new URL(url))
  return server.stop
})
afterAll(() => {
  registry.remove()
  authority.remove()
})

/** Each CLI has its own module. */
function write(cli: string, ...lifecycle: object[]): void {
  const name = `net-${cli}`
  const [module, ...others] = moduleObjects({ name, system: 'aws', versions })
  const { spec, ...rest } = module as { spec: object }
  const scanned = others.map((one) =>
    'metadata' in one && JSON.stringify(one.metadata).includes(`${name}-1.0.0`)
      ? {
          ...one,
          status: { sourceScan: { scannedAt: '2026-11-01T00:00:00Z', findings: [finding] } },
        }
      : one,
  )
  registry.write(`${name}.yaml`, [{ ...rest, spec: { ...spec, lifecycle } }, ...scanned])
}

const configuration = (cli: string) => `
terraform {
  required_providers {
    hello = { source = "${host}/platform/hello", version = "~> 1.0" }
  }
}
module "net" {
  source  = "${host}/platform/net-${cli}/aws"
  version = "1.0.0"
}
module "more" {
  source  = "${host}/platform/net-${cli}/aws"
  version = "1.1.0"
}
module "new" {
  source  = "${host}/platform/net-${cli}/aws"
  version = "~> 1.0"
}
`

describe.each(clis)('$name', ({ name, path }) => {
  it.skipIf(path === undefined)(
    'is checked against what init installed and what the registry says',
    async () => {
      const workspace = new Workspace(path, url, configuration(name), {
        SSL_CERT_FILE: authority.caFile,
      })
      await workspace.must('init')
      mkdirSync(join(workspace.dir, 'tmp'))
      const outdated = (...args: readonly string[]) =>
        depot(workspace.dir, ['outdated', '--egress-ca-path', authority.caFile, ...args])
      const before = await outdated('--ignore', 'behind,excluded')
      expect(before.stdout).toContain('module.net')
      expect(before.stdout).toContain('vulnerable: a scan of 1.0.0 found 1 CRITICAL')
      write(
        name,
        { versions: '1.0.0', state: 'Deprecated', message: 'It leaks.', replacedBy: '2.0.0' },
        { versions: '1.1.0', state: 'Yanked' },
        { versions: '1.2.0', state: 'Quarantined', message: 'Stolen token.' },
      )
      await expect
        .poll(async () => (await outdated('--ignore', 'behind,excluded,vulnerable')).stdout)
        .toMatch(/quarantined/)
      const { status, stdout, stderr } = await outdated('--ignore', 'behind,excluded')
      expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
      expect(stdout).toContain('deprecated: 1.0.0 is deprecated: It leaks.; use 2.0.0 instead')
      expect(stdout).toContain('yanked: 1.1.0 is yanked')
      expect(stdout).toContain('quarantined: 1.2.0 is quarantined: Stolen token.')
      expect(stdout).toContain('4 checked, 3 with findings, 0 undecided, 0 not checked, ')
    },
  )
})
