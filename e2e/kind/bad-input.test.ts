import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cases } from '../../hack/chart/mistakes.fixture.ts'
import { apply, kind, kubectl, must, namespace, podsIn, read, until } from './cluster.fixture.ts'
import { install, makeNamespace, podsOf, uninstall, upgrade } from './release.fixture.ts'

/* Values that cannot work, and secrets that differ from the values. */

beforeAll(async () => {
  await makeNamespace()
  await uninstall()
  await kubectl(
    '-n',
    namespace,
    'delete',
    'configmaps,secrets,pods,services',
    '--all',
    '--wait=false',
  )
})
afterAll(async () => {
  await uninstall()
})

/** The last case of each rule, such as V01. The tests of the chart render all of them. */
const byRule = new Map(cases.map((each) => [each[0].slice(0, 3), each]))

describe('an install that is refused', () => {
  const kinds = 'deployments,statefulsets,services,pods,secrets,serviceaccounts,roles,rolebindings'
  const objects = async (): Promise<string> =>
    kubectl('-n', namespace, 'get', kinds, '-o', 'name', '-l', 'app.kubernetes.io/instance=depot')

  it('names the mistake and leaves nothing behind, for each rule', async () => {
    for (const [what, values, message] of byRule.values()) {
      const { code, stderr } = await upgrade(values, { wait: false, plain: true })
      expect({ what, code }).toEqual({ what, code: 1 })
      expect(stderr.split('\n')).toContainEqual(message)
    }
    expect(await must(kind.tools.helm, ['list', '--short', '-n', namespace])).toBe('')
    expect(await objects()).toBe('')
  })

  it('refuses unknown names of values', async () => {
    const { code, stderr } = await upgrade({ server: { replicas: 2 } }, { wait: false })
    expect(code).toBe(1)
    expect(stderr).toMatch(/additional propert.*'replicas'/i)
    expect(await objects()).toBe('')
  })
})

describe('secrets that are wrong', () => {
  const secret = (name: string, stringData: object): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  })
  /** The log of a pod's container, and of the one before it. */
  const logsOf = async (pod: string): Promise<string> => {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log`
    const logs = [path, `${path}?previous=true`].map((one) => read(one).catch(() => ''))
    return (await Promise.all(logs)).join('')
  }
  const logOf = async (component: string): Promise<string> => {
    const [pod = ''] = await podsOf(component)
    return logsOf(pod)
  }

  const readinessOf = async (pod: string): Promise<string | undefined> => {
    const found = (await podsIn()).find(({ metadata }) => metadata.name === pod)
    return found?.status.conditions?.find(({ type }) => type === 'Ready')?.status
  }
  const onlyPod = async (component: string): Promise<string> => (await podsOf(component))[0] ?? ''
  /** The termination message in the status of a pod. */
  const endingOf = async (component: string): Promise<string> => {
    const only = await onlyPod(component)
    const found = (await podsIn(component)).find(({ metadata }) => metadata.name === only)
    return (found?.status.containerStatuses ?? [])
      .flatMap(({ state, lastState }) => [state, lastState])
      .map(({ terminated }) => terminated?.message ?? '')
      .join('')
  }

  it('the events of the pod name a Secret without its key, and the key', async () => {
    await apply([secret('session', { password: 'under another name' })])
    await upgrade(
      {
        server: { anonymousAuth: true },
        ui: { enabled: true, sessionPasswordSecretName: 'session' },
      },
      { wait: false },
    )
    const events = await until(
      () => kubectl('-n', namespace, 'get', 'events', '-o', 'jsonpath={.items[*].message}'),
      (seen) => seen.includes('find key sessionPassword in Secret depot-system/session'),
    )
    expect(events).toContain('sessionPassword')
  })

  it('the log of the explorer names the Secret with a session password that is too short', async () => {
    await apply([secret('session', { sessionPassword: 'short' })])
    await kubectl(
      '-n',
      namespace,
      'delete',
      'pods',
      '-l',
      'app.kubernetes.io/component=ui',
      '--wait=false',
    )
    const log = await until(
      () => logOf('ui'),
      (seen) => seen.includes('has 5 characters'),
    )
    expect(log).toMatch(/DEPOT_SESSION_PASSWORD.*32/)
    expect(log).toContain('DEPOT_SESSION_PASSWORD is the key sessionPassword of the Secret session')
    await until(
      () => endingOf('ui'),
      (message) => message.includes('the key sessionPassword of the Secret session'),
    )
  })

  it.each([
    [
      'that is not a certificate',
      { 'tls.crt': 'no certificate', 'tls.key': 'no key' },
      ['are not a certificate with its key', 'the key tls.crt of the Secret server-tls'],
    ],
    [
      'under other names',
      { 'server.pem': 'a certificate' },
      ['cannot read /etc/tls/tls.crt', 'the key tls.crt of the Secret server-tls'],
    ],
  ])('a certificate %s is named with its Secret', async (_, data, said) => {
    await uninstall()
    await kubectl('-n', namespace, 'delete', 'secret', 'server-tls', '--ignore-not-found')
    await apply([secret('server-tls', data)])
    const tls = { enabled: true, secretName: 'server-tls' }
    await upgrade({ server: { anonymousAuth: true, tls } }, { wait: false })
    const log = await until(
      () => logOf('server'),
      (seen) => seen.includes('/etc/tls/'),
    )
    for (const part of said) expect(log).toContain(part)
    // Not ready, and the status of the pod says why.
    await until(
      () => endingOf('server'),
      (message) => said.every((part) => message.includes(part)),
    )
    expect(await readinessOf(await onlyPod('server'))).toBe('False')
    await uninstall()
    // The type of a Secret cannot be changed, and other suites have one with this name.
    await kubectl('-n', namespace, 'delete', 'secret', 'server-tls')
  })

  it('an invalid signing key keeps new pods out of service, and the old one answers', async () => {
    await install({ server: { anonymousAuth: true } })
    const [good = ''] = await podsOf('server')
    await apply([secret('signing', { privateKey: 'this is not a key' })])
    await upgrade(
      { server: { anonymousAuth: true, gpg: { secretName: 'signing' } } },
      { wait: false },
    )
    const pods = await until(
      () => podsOf('server'),
      (found) => found.length === 2,
    )
    const [bad = ''] = pods.filter((pod) => pod !== good)
    await until(
      () => logsOf(bad),
      (log) =>
        log.includes('/etc/depot/gpg/private-key.asc is the key privateKey of the Secret signing'),
    )
    expect(await readinessOf(good)).toBe('True')
    expect(await readinessOf(bad)).toBe('False')
  })
})
