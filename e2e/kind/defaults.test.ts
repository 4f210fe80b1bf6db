import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { apply, kind, kubectl, namespace, requestsOf, run, until } from './cluster.fixture.ts'
import {
  deleteRecords,
  images,
  install,
  makeNamespace,
  metricOf,
  podsOf,
  uninstall,
} from './release.fixture.ts'

/* The chart with its defaults, as at the first install. */

const examples = join(import.meta.dirname, '../../docs/examples')
let warnings: string

beforeAll(async () => {
  await makeNamespace()
  await uninstall()
  await deleteRecords()
  warnings = await install(images, { plain: true })
})
afterAll(async () => {
  await deleteRecords()
  await uninstall()
})

it('server, controller and Valkey become ready at the first try, under the level restricted', async () => {
  expect(warnings).not.toMatch(/warning|would violate/i)
  for (const component of ['server', 'controller', 'valkey'])
    expect({ component, pods: (await podsOf(component)).length }).toEqual({ component, pods: 1 })
  const outcome = await run(kind.tools.helm, ['test', 'depot', '-n', namespace, '--timeout', '90s'])
  expect(outcome).toMatchObject({ code: 0 })
})

it('the controller holds its Lease, and neither it nor the server is refused a request', async () => {
  const [controller = ''] = await podsOf('controller')
  await until(
    () => metricOf(controller, 'lease_held'),
    (held) => held === 1,
  )
  for (const component of ['server', 'controller']) {
    const requests = requestsOf(`depot-${component}`, await podsOf(component))
    const refused = requests.filter(({ responseStatus }) => responseStatus?.code === 403)
    expect({ component, refused }).toEqual({ component, refused: [] })
    expect(requests.length).toBeGreaterThan(0)
  }
})

it('a Depot is reconciled, and says why it cannot be filled', async () => {
  await apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'platform' } }])
  await kubectl('apply', '--server-side', '-f', join(examples, 'first-depot.yaml'))
  // The cluster of the suite has no internet access, so GitHub is unreachable.
  const message = await until(
    () =>
      kubectl(
        '-n',
        'platform',
        'get',
        'depots.depot.internal/public',
        '-o',
        'jsonpath={.status.conditions[?(@.type=="Ready")].message}',
      ),
    (text) => /github|registry/i.test(text),
  )
  expect(message).not.toBe('')
})
