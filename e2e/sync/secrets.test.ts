import { afterAll, beforeAll, expect, it } from 'vitest'
import { tarGzOf } from '../../hack/testbed/registry/archives.ts'
import type { Server } from '../../hack/testbed/server/server.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

/* Secrets of sources that change while the controller runs: github, git and registry, one private module of each. */

let cluster: ControlledCluster
let controller: Server
const kindsOfSource = ['github', 'git', 'registry'] as const
const secretPath = (name: string) => `/api/v1/namespaces/team/secrets/${name}`

/** Makes the upstream require new credentials. */
function lock(word: string): void {
  const { github, git, registry } = cluster.upstreams
  github.tokens.clear()
  github.tokens.add(word)
  registry.token = word
  git.authorization = `Basic ${Buffer.from(`depot:${word}`).toString('base64')}`
}

async function writeSecrets(word: string): Promise<void> {
  const data = {
    github: { token: word },
    git: { username: 'depot', password: word },
    registry: { token: word },
  }
  for (const name of kindsOfSource) {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: data[name] }
    await cluster.plane.admin.apply(secretPath(name), secret, 'kubectl')
  }
}

async function release(version: string): Promise<void> {
  const { github, git, registry } = cluster.upstreams
  const files = { 'main.tf': `# ${version}\n` }
  github.repositories.set('acme/closed', {
    isPrivate: true,
    tags: github.repositories.get('acme/closed')?.tags ?? new Map(),
  })
  github.tag('acme/closed', `v${version}`, files)
  git.tag('acme/closed', `v${version}`, files)
  const archive = await tarGzOf([{ path: 'main.tf', content: Buffer.from(files['main.tf']) }])
  registry.addModule({ address: 'acme/closed/aws', version, archive })
}

/** Applies the Depot and requests a sync of it. */
async function sync(asked: string): Promise<void> {
  const { git, registry } = cluster.upstreams
  const secretRef = (name: string) => ({ secretRef: { name } })
  const moduleConfigs = [
    {
      name: 'github',
      repoUrl: 'https://github.com/acme/closed',
      githubClientConfig: { secretName: 'github' },
    },
    { name: 'git', source: { type: 'git', url: git.urlOf('acme/closed'), ...secretRef('git') } },
    {
      name: 'registry',
      source: {
        type: 'registry',
        url: `${registry.host}/acme/closed/aws`,
        ...secretRef('registry'),
      },
    },
  ]
  const global = {
    moduleConfig: { provider: 'aws' },
    storageConfig: { fileSystem: { directoryPath: 'team' } },
  }
  await cluster.apply('Depot', 'team', 'main', {
    metadata: { annotations: { 'depot.internal/sync-requested-at': asked } },
    spec: { global, moduleConfigs },
  })
}

interface Warning {
  readonly type: string
  readonly note: string
  readonly regarding: { readonly kind: string; readonly name: string }
}

/** Warning Events, as `Depot main` and the message. */
async function warnings(namespace = 'team'): Promise<string[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
  const { items } = (await cluster.plane.admin.request('GET', path)) as { items: Warning[] }
  return items
    .filter(({ type }) => type === 'Warning')
    .map(({ regarding, note }) => `${regarding.kind} ${regarding.name} ${note}`)
}

beforeAll(async () => {
  cluster = await ControlledCluster.start('team')
  lock('first')
  await writeSecrets('first')
  await release('1.0.0')
  controller = await cluster.startController()
}, 300_000)
afterAll(async () => {
  await controller?.stop()
  await cluster?.stop()
})

it('are read again for every use, so that rotation needs no restart', async () => {
  await sync('first')
  await cluster.untilSynced('team', 3)
  lock('second')
  await writeSecrets('second')
  await release('1.1.0')
  await sync('rotated')
  expect(await cluster.untilSynced('team', 6)).toHaveLength(6)
})

it('are reported in Warning Events when they were deleted, and stored archives are kept', async () => {
  const stored = cluster.stored('team')
  for (const name of kindsOfSource) await cluster.plane.admin.request('DELETE', secretPath(name))
  await release('1.2.0')
  await sync('gone')
  for (const name of kindsOfSource) {
    const said = `there is no Secret "${name}" in the namespace team`
    const told = (what: string) =>
      expect.arrayContaining([expect.stringContaining(`${what}${said}`)]) as unknown
    await expect
      .poll(() => warnings(), { timeout: 60_000 })
      .toEqual(told(`Depot main Module ${name}: `))
    await expect
      .poll(() => warnings(), { timeout: 60_000 })
      .toEqual(told(`Version ${name}-1-1-0 SecretInvalid: `))
  }
  const versions = await cluster.list('Version', 'team')
  expect(versions.flatMap(({ status }) => status?.artifact?.fileName ?? [])).toHaveLength(6)
  expect(cluster.stored('team')).toEqual(stored)

  await writeSecrets('second')
  await sync('back')
  await cluster.untilSynced('team', 9)
})

it('are reported in Warning Events when the upstream refuses them', async () => {
  lock('third')
  await sync('refused')
  for (const name of kindsOfSource) {
    const told = expect.arrayContaining([
      expect.stringMatching(new RegExp(`^Depot main Module ${name}: .*(401|refused)`)),
    ]) as unknown
    await expect.poll(() => warnings(), { timeout: 60_000 }).toEqual(told)
  }
  expect((await warnings()).join('\n')).not.toMatch(/first|second|third/)
})

it('are only read in the namespaces that the operator lists', async () => {
  await cluster.plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
  await cluster.apply('Depot', 'other', 'main', {
    spec: {
      global: { storageConfig: { fileSystem: { directoryPath: 'other' } } },
      moduleConfigs: [
        {
          name: 'git',
          provider: 'aws',
          source: {
            type: 'git',
            url: cluster.upstreams.git.urlOf('acme/closed'),
            secretRef: { name: 'git' },
          },
        },
      ],
    },
  })
  const told = expect.stringMatching(
    /^Depot main Module git: may not read the Secret "git" in the namespace other: add other to controller\.secretNamespaces/,
  ) as unknown
  await expect
    .poll(() => warnings('other'), { timeout: 60_000 })
    .toEqual(expect.arrayContaining([told]))
})
