import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { writeSamples } from '../hack/testbed/registry/samples.ts'
import { writeCertificate } from '../hack/testbed/server/certificate.ts'
import { startServer } from '../hack/testbed/server/server.ts'
import { startTunnel } from '../hack/testbed/server/tunnel.ts'
import { toolPath } from '../hack/testbed/tools.ts'

const run = promisify(execFile)
const apiVersion = 'depot.internal/v1alpha1'
const host = 'registry.example.com'
/** The host of which Renovate requests a module as from the public registry. From other hosts, it requests only versions. */
const detailHost = 'app.terraform.io'
const publishedAt = '2026-02-01T10:00:00.000Z'
const registry = new Registry()
const folder = mkdtempSync(join(tmpdir(), 'depot-renovate-'))
afterAll(() => {
  registry.remove()
  rmSync(folder, { recursive: true, force: true })
})

interface Dependency {
  readonly depName: string
  readonly sourceUrl?: string
  readonly updates: readonly { readonly newVersion: string; readonly releaseTimestamp?: string }[]
}

it('Renovate finds updates, the addresses of their changelogs, and the times of their releases', async () => {
  await registry.sign()
  await writeSamples(registry)
  registry.write('vpc.yaml', [
    {
      apiVersion,
      kind: 'Module',
      metadata: { name: 'vpc', namespace: 'platform' },
      spec: {
        moduleConfig: {
          provider: 'aws',
          repoUrl: 'https://git.example.com/vpc',
          storageConfig: { fileSystem: { directoryPath: 'modules' } },
        },
      },
    },
    ...['1.0.0', '1.1.0'].map((version) => ({
      apiVersion,
      kind: 'Version',
      metadata: { name: `vpc-${version}`, namespace: 'platform' },
      spec: {
        type: 'Module',
        version,
        fileName: `vpc-${version}.zip`,
        moduleConfigRef: { name: 'vpc' },
      },
      status: { checksum: '0'.repeat(64), artifact: { storedAt: publishedAt } },
    })),
  ])
  const certificate = await writeCertificate(folder, host, detailHost)
  const server = await startServer(registry, ...certificate.flags)
  const tunnel = await startTunnel(server.url)
  try {
    writeFileSync(
      join(folder, 'main.tf'),
      `terraform {
  required_providers {
    hello = {
      source  = "${host}/platform/hello"
      version = "1.0.0"
    }
  }
}
module "network" {
  source  = "${host}/platform/network/aws"
  version = "1.0.0"
}
module "vpc" {
  source  = "${detailHost}/platform/vpc/aws"
  version = "1.0.0"
}
`,
    )
    await run('git', ['init', '-q'], { cwd: folder })
    await run('git', ['add', 'main.tf'], { cwd: folder })
    const node = dirname(process.execPath)
    const { stdout } = await run(toolPath('renovate'), [], {
      cwd: folder,
      maxBuffer: 64 * 1024 * 1024,
      env: {
        PATH: `${node}:${process.env['PATH'] ?? ''}`,
        HOME: folder,
        HTTPS_PROXY: tunnel.url,
        NODE_EXTRA_CA_CERTS: certificate.certPath,
        LOG_LEVEL: 'debug',
        LOG_FORMAT: 'json',
        RENOVATE_PLATFORM: 'local',
        RENOVATE_DRY_RUN: 'lookup',
        RENOVATE_ENABLED_MANAGERS: '["terraform"]',
        RENOVATE_BASE_DIR: join(folder, 'base'),
        RENOVATE_ONBOARDING: 'false',
        RENOVATE_REQUIRE_CONFIG: 'ignored',
      },
    })
    const found = stdout
      .split('\n')
      .filter((line) => line.includes('packageFiles with updates'))
      .map((line) => JSON.parse(line) as { config: { terraform: { deps: Dependency[] }[] } })
      .flatMap(({ config }) => config.terraform.flatMap(({ deps }) => deps))
    const summary = found.map(({ depName, sourceUrl, updates }) => ({
      depName,
      sourceUrl,
      to: updates.map(({ newVersion }) => newVersion),
      at: updates.map(({ releaseTimestamp }) => releaseTimestamp),
    }))
    expect(summary).toEqual(
      expect.arrayContaining([
        {
          depName: `${host}/platform/network/aws`,
          sourceUrl: 'https://git.example.com/platform/terraform-aws-network',
          to: expect.arrayContaining(['2.0.0']) as unknown,
          at: expect.anything() as unknown,
        },
        {
          depName: `${detailHost}/platform/vpc/aws`,
          sourceUrl: 'https://git.example.com/vpc',
          to: ['1.1.0'],
          at: [publishedAt],
        },
        expect.objectContaining({
          depName: 'hello',
          to: expect.arrayContaining(['1.1.0']) as unknown,
        }),
      ]),
    )
  } finally {
    tunnel.close()
    await server.stop()
  }
})
