import { afterAll, beforeAll } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { admissionScenarios, syncScenarios } from '../../pkg/fill/sync/scenarios.fixture.ts'
import { clusterPlace } from './cluster-place.fixture.ts'

let plane: ControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
  await applyManifests(plane.admin, 'config/crd/bases')
})
afterAll(() => plane?.stop())

const open = async (namespace: string) => {
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  return clusterPlace(plane, namespace)
}
syncScenarios('a cluster', open)
admissionScenarios('a cluster', open)
