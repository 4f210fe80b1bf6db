import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import {
  find,
  helms,
  mistakes,
  podsOf,
  type Rendered,
  render,
  renderText,
  type Values,
} from './helm.fixture.ts'
import { profiles } from './profiles.fixture.ts'
import { conformance } from './schemas/conform.fixture.ts'

const schemas = conformance()
afterAll(() => schemas.dispose())

const brokerWith = (broker: object, oidc: object = { clientSecretName: 'client' }): Values => ({
  broker: { enabled: true, config: { enablePasswordDB: true }, ...broker },
  server: { oidc: { enabled: true, ...oidc } },
})
const withoutDefinitions = { crds: { install: false } }

const modes: Readonly<Record<string, object>> = {
  anonymous: { anonymousAuth: true },
  kubeconfig: { useBearerToken: false },
  bearer: {},
  oidc: { oidc: { enabled: true, issuerUrl: 'https://id.example.com' } },
  fallback: {
    oidc: {
      enabled: true,
      issuerUrl: 'https://id.example.com',
      allowServiceAccountFallback: true,
      allowClientCredentials: true,
    },
  },
  guests: { anonymousAuth: true, oidc: { enabled: true, issuerUrl: 'https://id.example.com' } },
}
const hosts = [{ host: 'depot.example.com' }]
const entrances: Readonly<Record<string, object>> = {
  none: {},
  ingress: { ingress: { enabled: true, hosts } },
  istio: { ingress: { istio: { enabled: true, hosts: ['depot.example.com'], gateway: 'public' } } },
  route: {
    route: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['depot.example.com'] },
  },
}
const storages: Readonly<Record<string, Values>> = {
  remote: { server: { archiveCache: { enabled: true } } },
  claim: { storage: { filesystem: { enabled: true, storageClassName: '-' } } },
  'one node': {
    storage: { filesystem: { enabled: true, accessMode: 'ReadWriteOnce', singleNode: true } },
    server: { stats: { persistence: { enabled: true } } },
    valkey: { enabled: false },
  },
  'own claim': { storage: { filesystem: { enabled: true, existingClaim: 'archives' } } },
  'host path': {
    storage: { filesystem: { enabled: true, hostPath: '/srv/depot', singleNode: true } },
  },
}

/** Every mode with every way in, with and without the explorer. Storages alternate. */
const matrix = Object.entries(modes).flatMap(([mode, modeValues], row) =>
  Object.entries(entrances).map(([entrance, entranceValues], column) => {
    const explorer = (row + column) % 2 === 0
    const [storage, storageValues = {}] =
      Object.entries(storages)[(row + column) % Object.keys(storages).length] ?? []
    const values: Values = {
      ...withoutDefinitions,
      ...storageValues,
      server: { ...modeValues, ...entranceValues, ...(storageValues['server'] as object) },
      ui: {
        enabled: explorer,
        sessionPasswordSecretName: 'session',
        ...('istio' in ((entranceValues as { ingress?: object }).ingress ?? {})
          ? {}
          : entranceValues),
      },
      rbac: { scopeToNamespace: row % 2 === 1 },
    }
    return [
      `${mode}, ${entrance}, ${explorer ? 'explorer' : 'no explorer'}, ${storage}`,
      values,
    ] as const
  }),
)

describe('the rendered chart', () => {
  it.each(matrix)('is valid for Kubernetes: %s', (_, values) => {
    expect(schemas.check(renderText(values))).toEqual([])
  })

  it.each(Object.entries(profiles))('is valid for Kubernetes: profile %s', (_, values) => {
    expect(schemas.check(renderText(values))).toEqual([])
  })

  it('is not valid if a field is misspelt', () => {
    const text = renderText(withoutDefinitions).replace('readOnlyRootFilesystem', 'readOnlyRoot')
    expect(schemas.check(text)).toHaveLength(1)
  })

  it.each(Object.entries(profiles))('has not changed: profile %s', async (name, values) => {
    const text = renderText({ ...values, ...withoutDefinitions })
    await expect(text).toMatchFileSnapshot(`testdata/${name}.yaml`)
  })

  it.each(Object.entries(profiles))(
    'is the same each time and in both versions of Helm: profile %s',
    (_, values) => {
      const [first, ...others] = [...helms, ...helms].map((helm, index) =>
        render(values, { helm, again: index >= helms.length }),
      )
      for (const other of others) expect(sorted(other)).toEqual(sorted(first ?? []))
    },
  )

  it('names every image by digest if digests are given', () => {
    const images = podsOf(render(profiles['everything'])).flatMap(({ spec }) =>
      spec.containers.map(({ image }) => image),
    )
    expect(images.length).toBeGreaterThan(3)
    for (const image of images) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/)
  })

  it('runs the controller with the image that has git, unless another one is named', () => {
    const imagesOf = (values: Values) =>
      Object.fromEntries(
        podsOf(render({ ...withoutDefinitions, ...values })).map(({ name, spec }) => [
          name,
          spec.containers[0]?.image,
        ]),
      )
    expect(imagesOf({})).toMatchObject({
      'depot-server': 'ghcr.io/depot/depot:0.1.0',
      'depot-controller': 'ghcr.io/depot/depot:0.1.0-git',
      'depot-selftest': 'ghcr.io/depot/depot:0.1.0',
    })
    expect(
      imagesOf({ global: { image: { registry: 'docker.io', tag: 'dev' } } })['depot-controller'],
    ).toBe('docker.io/depot/depot:dev-git')
    expect(imagesOf({ controller: { image: { tag: '0.1.0' } } })['depot-controller']).toBe(
      'ghcr.io/depot/depot:0.1.0',
    )
    const digest = `sha256:${'a'.repeat(64)}`
    const git = `sha256:${'b'.repeat(64)}`
    const pinned = { global: { image: { digest } } }
    expect(imagesOf(pinned)['depot-controller']).toBe(`ghcr.io/depot/depot@${digest}`)
    expect(imagesOf({ ...pinned, controller: { image: { digest: git } } })).toMatchObject({
      'depot-server': `ghcr.io/depot/depot@${digest}`,
      'depot-controller': `ghcr.io/depot/depot@${git}`,
    })
  })

  it('pins third-party images by digest, if their tags are those of the chart', () => {
    const imageOf = (broker: object) =>
      podsOf(render({ ...withoutDefinitions, ...brokerWith(broker) }))
        .filter(({ name }) => ['depot-broker', 'depot-valkey'].includes(name))
        .map(({ name, spec }) => [name, spec.containers[0]?.image])
    expect(imageOf({})).toEqual([
      [
        'depot-broker',
        expect.stringMatching(/^ghcr\.io\/dexidp\/dex:v[\d.]+@sha256:[0-9a-f]{64}$/),
      ],
      ['depot-valkey', expect.stringMatching(/valkey:[\d.]+@sha256:[0-9a-f]{64}$/)],
    ])
    expect(imageOf({ image: { tag: 'v3' } })[0]).toEqual(['depot-broker', 'ghcr.io/dexidp/dex:v3'])
  })

  it('is in one namespace only, or in none', () => {
    const objects = render({ ...profiles['everything'], global: { namespace: 'other' } })
    const namespaces = objects.map(({ kind, metadata }) => [kind, metadata.namespace])
    const elsewhere = namespaces.filter(
      ([, namespace]) => namespace !== undefined && namespace !== 'other',
    )
    expect(elsewhere).toEqual([])
  })

  it('uses names that contain the release', () => {
    const names = render(withoutDefinitions, { release: 'registry' }).map(
      ({ metadata }) => metadata.name,
    )
    expect(new Set(names.map((name) => name.split('-', 2).join('-')))).toEqual(
      // Claims of StatefulSets have always had this name.
      new Set(['registry-depot', 'data-registry']),
    )
  })
})

describe('pods', () => {
  const all = podsOf(render(profiles['everything']))

  it('include one of each component, and the self-test', () => {
    expect(all.map(({ name }) => name).toSorted()).toEqual([
      'depot-backup',
      'depot-broker',
      'depot-controller',
      'depot-scanning',
      'depot-scanning-database',
      expect.stringMatching(/^depot-scanning-database-[0-9a-f]{8}$/),
      'depot-selftest',
      'depot-server',
      'depot-ui',
      'depot-valkey',
    ])
  })

  it.each(all)('$name meets the level restricted', ({ spec }) => {
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    for (const container of spec.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  it.each(all.filter(({ name }) => /ui|valkey/.test(name)))('$name has no token', ({ spec }) => {
    expect(spec.automountServiceAccountToken).toBe(false)
  })

  it('keep their port open for five seconds after SIGTERM', () => {
    for (const name of ['depot-server', 'depot-ui']) {
      const { spec } = all.find((pod) => pod.name === name) ?? {}
      expect(spec?.containers[0]?.lifecycle).toEqual({ preStop: { sleep: { seconds: 5 } } })
      expect(spec?.terminationGracePeriodSeconds).toBe(40)
    }
  })

  it('the server may only list and watch', () => {
    for (const scopeToNamespace of [false, true]) {
      const objects = render({ ...withoutDefinitions, rbac: { scopeToNamespace } })
      const rules = ['ClusterRole', 'Role'].flatMap(
        (kind) => find(objects, kind, 'depot-server')['rules'],
      )
      expect(rules.length).toBeGreaterThan(1)
      for (const rule of rules) expect(rule?.verbs).toEqual(['list', 'watch'])
    }
  })

  it.each([
    { namespaces: [], kinds: ['Role depot-system'] },
    { namespaces: ['team-a', 'team-b'], kinds: ['Role team-a', 'Role team-b'] },
    { namespaces: ['*'], kinds: ['ClusterRole'] },
  ])('the controller reads secrets by name in $namespaces', ({ namespaces, kinds }) => {
    const controller = { secretNames: ['github'], secretNamespaces: namespaces }
    const roles = render({ ...withoutDefinitions, controller }).flatMap(
      ({ kind, metadata, rules = [] }) =>
        rules
          .filter(({ resources }) => resources.includes('secrets'))
          .map((rule) => ({ of: [kind, metadata.namespace].filter(Boolean).join(' '), rule })),
    )
    expect(roles.map(({ of }) => of)).toEqual(kinds)
    for (const { rule } of roles)
      expect(rule).toMatchObject({ resourceNames: ['github'], verbs: ['get'] })
  })

  it.each([false, true])(
    'the controller has no permission beyond its namespace if it is limited to it: %s',
    (scopeToNamespace) => {
      const objects = render({ ...withoutDefinitions, rbac: { scopeToNamespace } })
      const roles = objects.filter(
        ({ kind, metadata }) =>
          kind.endsWith('Role') && metadata.name.startsWith('depot-controller'),
      )
      expect(roles.map(({ kind }) => kind)).toEqual(
        scopeToNamespace ? ['Role', 'Role'] : ['ClusterRole', 'Role', 'Role'],
      )
      const rules = roles.flatMap((role) => role.rules ?? [])
      expect(JSON.stringify(rules)).not.toMatch(/"\*"|escalate|impersonate/)
      // Anyone who may write a GroupBinding can get access with it. So the controller may only write the status.
      const ofBindings = rules.filter(({ resources }) => /groupbindings/.test(resources.join()))
      expect(ofBindings.map(({ resources, verbs }) => [resources, verbs])).toEqual([
        [['groupbindings'], ['list', 'watch']],
        [['groupbindings/status'], ['patch']],
      ])
    },
  )

  it('the controller may write to the volume that servers only read', () => {
    const mounts = ['depot-server', 'depot-controller'].map((name) =>
      podsOf(render({ ...profiles['everything'], ...withoutDefinitions }))
        .find((pod) => pod.name === name)
        ?.spec.containers[0]?.volumeMounts?.find((mount) => mount.name === 'modules'),
    )
    expect(mounts).toEqual([
      { name: 'modules', mountPath: '/data/modules', readOnly: true },
      { name: 'modules', mountPath: '/data/modules' },
    ])
  })

  it('claims are separate objects, so that an upgrade can resize them', () => {
    const sized = (size: string) =>
      render({
        server: { replicaCount: 2, stats: { persistence: { enabled: true, size } } },
        valkey: { dataStorage: { requestedSize: size } },
        storage: { filesystem: { enabled: true, size } },
      })
    const changed = (kind: string) => {
      const after = sized('7Gi').filter((object) => object.kind === kind)
      const before = sized('3Gi').filter((object) => object.kind === kind)
      return after.filter((object, at) => !isDeepStrictEqual(object, before[at]))
    }
    expect(changed('PersistentVolumeClaim').map(({ metadata }) => metadata.name)).toEqual([
      'depot-modules',
      'data-depot-server-0',
      'data-depot-server-1',
      'data-depot-valkey-0',
    ])
    expect(changed('StatefulSet')).toEqual([])
  })

  it('the explorer starts with a Secret that has no ca.crt', () => {
    const objects = render({
      server: { tls: { enabled: true, secretName: 'tls' } },
      ui: { enabled: true, sessionPasswordSecretName: 's' },
    })
    const mounts = podsOf(objects).flatMap(({ spec }) => spec.volumes ?? [])
    expect(mounts.filter(({ name }) => name === 'server-ca')).toEqual([
      expect.objectContaining({ secret: expect.objectContaining({ optional: true }) }),
    ])
  })

  it('the self-test has the settings of the server, without volumes that could prevent its start', () => {
    const { everything = {} } = profiles
    const storage = { filesystem: { enabled: true, accessMode: 'ReadWriteOnce', singleNode: true } }
    const pods = podsOf(render({ ...everything, ...withoutDefinitions, storage }))
    const [server, selftest] = ['depot-server', 'depot-selftest'].map(
      (name) => pods.find((pod) => pod.name === name)?.spec,
    )
    const [, ...args] = selftest?.containers[0]?.args ?? []
    expect(selftest?.containers[0]?.args?.[0]).toBe('doctor')
    const flags = server?.containers[0]?.args ?? []
    expect(args).toEqual(expect.arrayContaining([...flags]))
    expect(args.filter((arg) => !flags.includes(arg))).toEqual([
      '--server-url=https://depot-server.depot-system.svc.cluster.local:80',
      '--admin-url=http://depot-server-metrics.depot-system.svc.cluster.local:9090',
      '--server-ca-path=/etc/tls/ca.crt',
      '--ui-url=http://depot-ui.depot-system.svc.cluster.local:80',
      '--ui-base-url=https://depot.example.com',
    ])
    const names = (of?: { readonly volumes?: readonly { readonly name: string }[] }) =>
      of?.volumes?.map(({ name }) => name)
    const shared = ['modules', 'tls', 'gpg', 'publish-issuers', 'kube']
    expect(names(server)).toEqual(['tmp', 'data', 'archives', ...shared])
    expect(names(selftest)).toEqual(['tmp', ...shared])
  })

  it('backups need only permissions to read records, and to record their time', () => {
    for (const scopeToNamespace of [false, true]) {
      const rbac = { scopeToNamespace }
      const objects = render({ ...withoutDefinitions, rbac, backup: { enabled: true } })
      const rules = objects
        .filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name === 'depot-backup')
        .flatMap((role) => role.rules ?? [])
      expect(rules.map(({ verbs }) => verbs.join()).toSorted()).toEqual(['get', 'list', 'patch'])
      const [pod] = podsOf(objects).filter(({ name }) => name === 'depot-backup')
      const args = pod?.spec.containers[0]?.args ?? []
      expect(args.includes('--namespaces=depot-system')).toBe(scopeToNamespace)
      expect(JSON.stringify(objects)).toContain('--backup-lease=depot-backup')
    }
  })

  it('scans need only permissions to read versions, and to write their status', () => {
    for (const scopeToNamespace of [false, true]) {
      const rbac = { scopeToNamespace }
      const objects = render({ ...withoutDefinitions, rbac, scanning: { enabled: true } })
      const rules = objects
        .filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name === 'depot-scanning')
        .flatMap((role) => role.rules ?? [])
      expect(rules.map(({ resources, verbs }) => [resources, verbs])).toEqual([
        [
          ['modules', 'providers', 'versions'],
          ['get', 'list', 'watch'],
        ],
        [['versions/status'], ['patch']],
      ])
      const [pod] = podsOf(objects).filter(({ name }) => name === 'depot-scanning')
      const args = pod?.spec.containers[0]?.args ?? []
      expect(args.includes('--watch-namespaces=depot-system')).toBe(scopeToNamespace)
      expect(args).not.toContainEqual(expect.stringMatching(/^--block/))
    }
  })

  it('scans read archives as large as the controller stores, and have space to unpack them', () => {
    const [pod] = podsOf(
      render({
        ...withoutDefinitions,
        controller: { limits: { providerSize: '3Gi', moduleUnpacked: '2Gi' } },
        scanning: { enabled: true, workSize: '50Gi' },
      }),
    ).filter(({ name }) => name === 'depot-scanning')
    const gib = 2 ** 30
    expect(pod?.spec.containers[0]?.args).toEqual(
      expect.arrayContaining([
        `--provider-size-limit=${3 * gib}`,
        `--module-unpacked-limit=${2 * gib}`,
        `--work-size=${10 * gib}`,
      ]),
    )
    expect(JSON.stringify(pod?.spec)).toContain('"emptyDir":{"sizeLimit":"50Gi"}')
  })

  it('downloads the database with the release if providers are scanned', () => {
    const downloads = (of: Values) =>
      podsOf(render({ ...withoutDefinitions, scanning: { enabled: true, ...of } }))
        .filter((pod) => pod.name.includes('database'))
        .map((pod) => pod.name)
    const [first] = downloads({})
    expect(downloads({ slots: 2 })).toEqual([first, 'depot-scanning-database'])
    expect(downloads({ image: { tag: '0.71.0' } })[0]).not.toBe(first)
    expect(downloads({ providerScanning: false })).toEqual([])
    expect(downloads({ dbUpdater: { enabled: false } })).toEqual([])
  })

  it('only the broker gets the secret of the CLI client', () => {
    const objects = render({
      ...withoutDefinitions,
      ...brokerWith({}, { clientSecret: 'hush' }),
    })
    const [server] = podsOf(objects).filter(({ name }) => name === 'depot-server')
    expect(JSON.stringify(server)).not.toMatch(/hush|CLIENT_SECRET|depot-broker-client/)
    expect(find(objects, 'Secret', 'depot-broker').stringData?.['config.yaml']).not.toContain(
      'hush',
    )
    expect(find(objects, 'Secret', 'depot-broker-client').stringData).toEqual({
      clientSecret: 'hush',
    })
  })
})

describe('values', () => {
  it('stay text if they look like numbers or contain blanks', () => {
    const odd = '0123'
    const text = renderText({
      ...withoutDefinitions,
      global: { namespace: '123' },
      server: {
        priorityClassName: odd,
        serviceAccount: { name: odd },
        gpg: { secretName: odd, privateKeyKey: odd, passphraseKey: odd },
        tls: { enabled: true, secretName: odd },
        ingress: { istio: { enabled: true, hosts: ['a'], gateway: odd } },
      },
      ui: {
        enabled: true,
        sessionPasswordSecretName: odd,
        ingress: { enabled: true, className: odd, hosts: [{ host: 'a' }] },
      },
      valkey: {
        auth: { enabled: true, usersExistingSecret: odd },
        dataStorage: { className: odd },
      },
      storage: { filesystem: { enabled: true, existingClaim: odd } },
    })
    expect(schemas.check(text)).toEqual([])
    expect(text).not.toMatch(/: 0?123$/m)
  })

  it.each([
    [{ server: { anonymusAuth: true } }, /anonymusAuth/],
    [{ sever: {} }, /sever/],
    [{ server: { replicaCount: 'two' } }, /replicaCount/],
    [{ server: { oidc: { enabled: 'yes' } } }, /enabled/],
    [{ global: { image: { digest: 'sha256:short' } } }, /digest/],
    [{ server: { service: { port: 70_000 } } }, /port/],
    [{ server: { oidc: { enabled: null } } }, /enabled/],
  ])('are refused if they are unknown or have a wrong type: %j', (values, message) => {
    for (const helm of helms) expect(() => mistakes(values, { helm })).toThrow(message)
  })
})

function sorted(objects: readonly Rendered[]): Rendered[] {
  const key = ({ kind, metadata }: Rendered) => `${kind} ${metadata.name}`
  return objects.toSorted((a, b) => key(a).localeCompare(key(b)))
}
