import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { bareEnvironment } from '../hack/testbed/environment.ts'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { objectStores } from './storage.fixture.ts'

/** Runs the doctor. @returns its status, and its lines without remedies */
async function doctor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const ended = await promisify(execFile)(process.execPath, depotArguments('doctor', ...args), {
    env: { ...bareEnvironment, ...env },
  }).catch((error: unknown) => error as { code: number; stdout: string; stderr: string })
  expect(ended.stderr).toBe('')
  const lines = ended.stdout.split('\n').filter((line) => /^\w/.test(line))
  return { code: 'code' in ended ? ended.code : 0, lines }
}

describe('in a cluster', () => {
  let cluster: ControlPlane
  const dir = mkdtempSync(join(tmpdir(), 'depot-doctor-e2e-'))
  const anonymous = ['--anonymous-auth', '--archives', dir]
  const ofController = ['--archives', dir, '--spool-dir', join(dir, 'spool')]
  const accountFlags = async (component: string) => {
    const token = await cluster.serviceAccountToken('depot-system', `depot-${component}`)
    return [component, '--kubeconfig', await cluster.kubeconfig({ token })]
  }
  const roles = '/apis/rbac.authorization.k8s.io/v1'

  beforeAll(async () => {
    cluster = await startControlPlane()
    const manifests = ['config/crd/bases', 'config/default/namespace.yaml', 'config/rbac']
    await applyManifests(cluster.admin, ...manifests)
  })
  afterAll(async () => {
    await cluster?.stop()
    rmSync(dir, { recursive: true })
  })

  it('finds that the roles of the chart are enough for a server and a controller', async () => {
    const server = await doctor([...(await accountFlags('server')), ...anonymous])
    expect(server.lines).toContainEqual(
      expect.stringMatching(/^ok +permissions: all \d+ that are needed$/),
    )
    expect(server.lines).toContain('ok       definitions: depot.internal serves all kinds')
    expect(server.lines).toContainEqual(expect.stringMatching(/^ok +API server: this machine is/))
    const controller = await doctor([...(await accountFlags('controller')), ...ofController])
    expect(controller.lines).toContainEqual(expect.stringMatching(/^ok +permissions: all \d+/))
    expect([server.code, controller.code]).toEqual([0, 0])
  })

  it('names the missing permissions of a service account', async () => {
    const flags = await accountFlags('server')
    await cluster.admin.request(
      'DELETE',
      `${roles}/namespaces/depot-system/rolebindings/depot-server`,
    )
    const { code, lines } = await doctor([...flags, ...anonymous])
    expect(code).toBe(1)
    expect(lines).toContain(
      'failed   permissions: missing: list groupbindings in depot-system, watch groupbindings in depot-system',
    )
  })

  it('names the missing definitions', async () => {
    const flags = [...(await accountFlags('controller')), '--api-group', 'other.example.com']
    const { code, lines } = await doctor([...flags, ...ofController])
    expect(code).toBe(1)
    expect(lines).toContainEqual(expect.stringMatching(/^failed +definitions: .*other\.example/))
  })

  it('says that the API server does not answer', async () => {
    const kubeconfig = await cluster.kubeconfig({ url: 'https://127.0.0.1:9' })
    const { code, lines } = await doctor(['server', '--kubeconfig', kubeconfig, ...anonymous])
    expect(code).toBe(1)
    expect(lines).toContainEqual(
      expect.stringMatching(/^failed +API server: .*(ECONNREFUSED|port)/),
    )
  })
})

describe.each(objectStores)('with $name', (each) => {
  it.skipIf(each.missing)('tries each storage, and repeats the message of the store', async () => {
    const { store, config } = await each.start()
    const registry = new Registry()
    const module = (name: string, storageConfig: object) =>
      stringify({
        apiVersion: 'depot.internal/v1alpha1',
        kind: 'Module',
        metadata: { namespace: 'platform', name },
        spec: { moduleConfig: { name, provider: 'aws', storageConfig }, versions: [] },
      })
    try {
      // Azure has a container for each module.
      const bucket = each.name === 'azure' ? 'network' : 'archives'
      await store.createBucket(bucket)
      registry.writeText('modules.yaml', module('network', config('archives')))
      const folder = ['--manifests', registry.manifests, '--archives', registry.archives]
      const server = ['server', '--anonymous-auth', ...folder]
      expect((await doctor(server, store.env)).lines).toContainEqual(
        expect.stringMatching(/^ok +storage .*: can be read$/),
      )
      expect((await doctor(['sync', ...folder], store.env)).lines).toContainEqual(
        expect.stringMatching(/^ok +storage .*: can be written, read and deleted$/),
      )

      // The controller creates a container of Azure for each module when it stores the first archive.
      if (each.name === 'azure') return
      registry.writeText('modules.yaml', module('missing', config('missing')))
      for (const args of [server, ['sync', ...folder]]) {
        const { code, lines } = await doctor(args, store.env)
        expect(code).toBe(1)
        expect(lines).toContainEqual(
          expect.stringMatching(/^failed +storage .*: .*(answered 404|Not Found)/),
        )
      }
    } finally {
      await store.stop()
      registry.remove()
    }
  })
})
