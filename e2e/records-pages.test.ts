import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildSamples } from '../hack/samples.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyAsController, applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { sampleStatus } from '../hack/testbed/control-plane/sample-status.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startAs } from '../hack/testbed/server/server.ts'
import { folderOfProgram, inlineCommands, shellBlock } from './documentation.fixture.ts'

/* Moves records to another group as in docs/migrating.md, and backs them up and restores them as in docs/operations.md. */

const repository = join(import.meta.dirname, '..')
const group = 'registry.example.com'
const run = promisify(execFile)
const dir = mkdtempSync(join(tmpdir(), 'depot-records-'))
const bin = folderOfProgram()
let plane: ControlPlane
let archives: Registry

const theirs = (text: string): string => text.replaceAll('depot.internal', group)

/** Runs commands in a folder with `config`, where files may be written, with the cluster as the current context. */
async function type(lines: string): Promise<string> {
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: dir, KUBECONFIG: plane.kubeconfigFile }
  return (await run('sh', ['-ec', lines], { cwd: dir, env })).stdout
}

beforeAll(async () => {
  symlinkSync(join(repository, 'config'), join(dir, 'config'))
  archives = await new Registry().sign()
  await buildSamples(archives.archives)
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.stop()
  archives?.remove()
  for (const made of [dir, bin]) rmSync(made, { recursive: true, force: true })
})

/** The status of a server's answer for the module of the samples. */
async function served(): Promise<number> {
  const flags = ['--anonymous-auth', '--kubeconfig', plane.kubeconfigFile]
  const server = await startAs(archives, ...flags)
  try {
    const url = `${server.url}/depot/modules/v1/platform/network/aws/2.0.0/download`
    return (await fetch(url)).status
  } finally {
    await server.stop()
  }
}

it('moves records of another group, with every status', async () => {
  const old = mkdtempSync(join(tmpdir(), 'depot-old-'))
  const manifests = globSync('config/{crd/bases,samples}/*.yaml', { cwd: repository })
  for (const [index, file] of manifests.entries()) {
    const text = theirs(readFileSync(join(repository, file), 'utf8'))
    writeFileSync(join(old, `${index}.yaml`), text)
  }
  await applyManifests(plane.admin, old)
  rmSync(old, { recursive: true })
  const statuses = JSON.parse(
    theirs(JSON.stringify(sampleStatus(archives.archives))),
  ) as ReturnType<typeof sampleStatus>
  await applyAsController(plane.admin, statuses)
  await type(shellBlock('migrating.md', '--map-group'))
  expect(await served()).toBe(204)
})

it('backs records up, and restores them', async () => {
  await type(shellBlock('operations.md', 'depot backup --out'))
  const [file = ''] = globSync('depot-*.yaml', { cwd: dir })
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const plural of ['modules', 'providers', 'versions', 'depots', 'groupbindings']) {
    await plane.admin.request('DELETE', `${definitions}/${plural}.depot.internal`)
  }
  const found = async () => {
    const { items } = (await plane.admin.request('GET', definitions)) as {
      items: { metadata: { name: string } }[]
    }
    return items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.endsWith('.depot.internal'))
  }
  await expect.poll(found, { timeout: 60_000 }).toEqual([])
  const commands = inlineCommands('operations.md', [
    'kubectl apply --server-side -k',
    'depot restore',
  ])
  expect(commands).toHaveLength(3)
  for (const command of commands) await type(command.replace('FILE', file))
  expect(await served()).toBe(204)
})
