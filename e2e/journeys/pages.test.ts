import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { folderOfProgram, shellBlock } from '../documentation.fixture.ts'

/* Blocks of the pages for people who publish, use and withdraw modules, exactly as printed. */

const repository = join(import.meta.dirname, '../..')
const bin = folderOfProgram()
const run = promisify(execFile)

const registry = new Registry()
const work = join(registry.dir, 'work')
let server: Server

beforeAll(async () => {
  await writeSamples(registry)
  await registry.sign()
  mkdirSync(join(work, 'source'), { recursive: true })
  writeFileSync(join(work, 'source/main.tf'), 'output "prefix" {\n  value = "acme"\n}\n')
  server = await startServer(registry)
  return server.stop
})
afterAll(() => {
  registry.remove()
  rmSync(bin, { recursive: true })
})

async function typed(block: string, cwd = work, home = process.env['HOME']) {
  const path = [bin, process.env['PATH']].join(':')
  const env = { PATH: path, HOME: home ?? '', TMPDIR: tmpdir() }
  return (await run('sh', ['-euc', block], { cwd, env })).stdout
}

const naming = (version: string) => `
  module "naming" {
    source  = "depot.test/platform/naming/generic"
    version = "${version}"
  }
  output "prefix" { value = module.naming.prefix }`

const versions = async () => {
  const answer = await fetch(`${server.url}/depot/modules/v1/platform/naming/generic/versions`)
  return answer.ok ? JSON.stringify(await answer.json()) : answer.status
}

describe('docs/publish.md and docs/withdraw.md', () => {
  it('import a build and lint it, as printed', async () => {
    const block = shellBlock('publish.md', 'depot import ./dist')
    const printed = await typed(block)
    expect(printed).toContain('stored platform/naming/generic 1.0.0')
    expect(printed).toContain('0 errors, 0 warnings in 2 objects')
    // The server of this test has its own folders.
    cpSync(join(work, 'registry'), registry.manifests, { recursive: true })
    cpSync(join(work, 'archives'), registry.archives, { recursive: true })
    await expect.poll(versions).toContain('1.0.0')
  })

  it('describe the next archive by a Version, which the server accepts', async () => {
    const printed = await typed(shellBlock('publish.md', 'version.yaml'))
    expect(printed).toMatch(/^0 errors, 1 warning in/m)
    const file = 'naming-1.1.0.tar.gz'
    copyFileSync(join(work, file), join(registry.archives, 'archives/naming', file))
    registry.writeText('naming-1.1.0.yaml', readFileSync(join(work, 'version.yaml'), 'utf8'))
    await expect.poll(versions).toContain('1.1.0')
  })

  it('publish a folder with depot publish, as printed', async () => {
    const printed = await typed(shellBlock('publish.md', 'depot publish module source'))
    expect(printed).toContain('compared: with 1.0.0, compatible')
    cpSync(join(work, 'archives'), registry.archives, { recursive: true })
    cpSync(join(work, 'registry/versions'), join(registry.manifests, 'versions'), {
      recursive: true,
    })
    await expect.poll(versions).toContain('1.2.0')
  })

  it.each(clis)('publish what $name installs', async ({ path }) => {
    if (path === undefined) return
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      const workspace = new Workspace(path, server.url, naming(version))
      expect(await workspace.apply()).toEqual({ prefix: 'acme' })
    }
  })

  it('withdraw a version, which CLIs then refuse with the message of the page', async () => {
    const block = shellBlock('withdraw.md', 'rm registry/naming-1.1.0.yaml')
    await typed(block.replace('registry/', `${registry.manifests}/`))
    await expect.poll(versions).not.toContain('1.1.0')
    const message = 'no available version of module'
    expect(readFileSync(join(repository, 'docs/withdraw.md'), 'utf8')).toContain(message)
    for (const { path } of clis) {
      if (path === undefined) continue
      const { output } = await new Workspace(path, server.url, naming('1.1.0')).run('init')
      expect(output).toContain(message)
    }
  })
})

describe('docs/use.md', () => {
  const page = readFileSync(join(repository, 'docs/use.md'), 'utf8')
  const [, configuration = ''] = /^```hcl\n(.*?)^```$/ms.exec(page) ?? []

  it.each(clis)('has a configuration and a lock command that work with $name', async ({ path }) => {
    if (path === undefined) return
    const own = configuration.replaceAll('registry.example.com', 'depot.test')
    const workspace = new Workspace(path, server.url, own)
    await workspace.must('init')
    const lock = /`terraform providers lock (-platform=.*?)`/.exec(page)?.[1] ?? ''
    await workspace.must('providers', 'lock', ...lock.split(' '))
    expect(workspace.lockFile()).toContain('depot.test/platform/hello')
  })
})

it('docs/cli.md puts the command on PATH with a link', async () => {
  const home = mkdtempSync(join(tmpdir(), 'depot-home-'))
  try {
    const printed = await typed(shellBlock('cli.md', 'ln -sf'), repository, home)
    expect(printed.trim()).toBe(packageJson.version)
  } finally {
    rmSync(home, { recursive: true })
  }
})
