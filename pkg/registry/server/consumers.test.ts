import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ConsumerList } from '../../api/browse/browse.ts'
import { compileGlob } from '../access/access.ts'
import type { Auth } from '../auth/auth.ts'
import { githubClaims, oidcOptions, TestIssuer } from '../auth/issuer.fixture.ts'
import { startCounting } from '../downloads/counts.fixture.ts'
import type { DownloadEvent } from '../downloads/downloads.ts'
import { AccessFixture, TestCluster } from './access.fixture.ts'

/* Names of consumers, and rights to read the list. */

const fixture = new AccessFixture()
const issuer = await TestIssuer.start()
const ci = await TestIssuer.start()
const cluster = await TestCluster.start()
const auths: Auth[] = []
afterAll(async () => {
  for (const auth of auths) await auth.close()
  fixture[Symbol.dispose]()
  issuer.stop()
  ci.stop()
  cluster.stop()
})

beforeAll(() => {
  fixture.module('vpc')
  const critical = { sourceScan: { findings: [finding] } }
  for (const version of ['1.0.0', '1.1.0', '2.0.0', '3.0.0-rc1']) {
    fixture.version('Module', 'vpc', version, {
      ...(version === '1.0.0' && { status: critical }),
      ...(version === '1.1.0' && { spec: { lifecycle: { state: 'Deprecated' } } }),
    })
  }
  fixture.bind('writers', {
    expression: '"writers" in groups',
    moduleResources: ['*'],
    publishNamespaces: ['platform'],
    publishModules: ['*'],
  })
  // The first binding that matches decides.
  fixture.bind('z-readers', { expression: 'true', moduleResources: ['*'] })
})
const finding = {
  vulnerabilityID: 'AVD-1',
  pkgName: '',
  installedVersion: '',
  severity: 'CRITICAL',
  title: 'open to everyone',
}

async function open(options: Parameters<AccessFixture['auth']>[0]) {
  const address = async () => ({ server: cluster.url, ca: cluster.ca })
  const auth = fixture.auth({
    cluster: { apiGroup: 'depot.internal', ttlMs: 60_000, address },
    ...options,
  })
  auths.push(auth)
  await auth.started
  return auth
}

const oidc = (more: object = {}) =>
  open({ mode: 'oidc', oidc: oidcOptions(issuer.url, { allowGuests: true, ...more }) })

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const tokenOf = async (...groups: string[]) => bearer(await issuer.sign({ groups }))
const download = '/depot/modules/v1/platform/vpc/aws/1.0.0/download'
const list = '/depot/ui/v1/resources/platform/module/vpc/consumers'

describe('a download names its consumer', () => {
  async function consumerOf(auth: Auth, init: object): Promise<(string | undefined)[]> {
    const events: DownloadEvent[] = []
    const app = fixture.app({ auth, onDownload: (event) => events.push(event) })
    // The bindings of a request past the app, where facts are noted.
    const facts = {}
    const { status } = await app.request(download, init, { facts })
    expect(status).toBe(204)
    return events.map(({ consumer }) => consumer)
  }

  it('by the first group that matches, and never a person unless that is wanted', async () => {
    const token = await tokenOf('all', 'team-a', 'team-b')
    expect(await consumerOf(await oidc(), token)).toEqual([undefined])
    const groups = { consumers: { isGroup: compileGlob('team-*') } }
    expect(await consumerOf(await oidc(groups), token)).toEqual(['group:team-a'])
    expect(await consumerOf(await oidc(groups), await tokenOf('all'))).toEqual([undefined])
    const persons = await oidc({ consumers: { persons: true } })
    expect(await consumerOf(persons, await tokenOf('all'))).toEqual([
      expect.stringMatching(/^person:./),
    ])
  })

  it('by its program, and not by a group that looks like one', async () => {
    const auth = await oidc({
      allowClientCredentials: true,
      consumers: { isGroup: compileGlob('*') },
    })
    const machine = await issuer.sign({ sub: 'ci', aud: 'another' })
    fixture.bind('ci', { expression: '"client:ci" in groups', moduleResources: ['*'] })
    expect(await consumerOf(auth, bearer(machine))).toEqual(['client:ci'])
    expect(await consumerOf(auth, await tokenOf('serviceaccount:a\u202e\n'))).toEqual([
      expect.stringMatching(/^group:serviceaccount:a[^\n\u202e]*$/),
    ])
  })

  it('by the service account that a cluster accepted', async () => {
    const auth = await open({ mode: 'bearer' })
    const claims = { sub: 'system:serviceaccount:payments:atlantis' }
    const token = await issuer.sign(claims)
    cluster.tokens.set(token, () => 200)
    cluster.users.set(token, claims.sub)
    expect(await consumerOf(auth, bearer(token))).toEqual(['serviceaccount:payments/atlantis'])
    // The second time, without a question to the cluster.
    expect(await consumerOf(auth, bearer(token))).toEqual(['serviceaccount:payments/atlantis'])
  })

  it('not by a subject that the cluster does not confirm', async () => {
    const auth = await open({ mode: 'bearer' })
    const token = await issuer.sign({
      sub: 'system:serviceaccount:payments:atlantis',
      jti: 'other',
    })
    cluster.tokens.set(token, () => 200)
    cluster.users.set(token, 'oidc:system:serviceaccount:payments:atlantis')
    expect(await consumerOf(auth, bearer(token))).toEqual([undefined])
  })

  it('by the repository of a job of CI', async () => {
    fixture.bind('jobs', { expression: '"gha:repository_id:74" in groups', moduleResources: ['*'] })
    const claims = ['repository_id']
    const entry = { alias: 'gha', issuer: ci.url, audience: 'https://depot.example.com', claims }
    const file = { current: [entry], onChange: () => () => true, close: async () => undefined }
    const publishIssuers = { file }
    const auth = await open({ mode: 'oidc', oidc: oidcOptions(issuer.url), publishIssuers })
    await vi.waitUntil(() => auth.impaired().length === 0, { interval: 1 })
    const job = bearer(await ci.sign(githubClaims()))
    expect(await consumerOf(auth, job)).toEqual(['repository:gha:acme/vpc'])
  })
})

describe('the list', () => {
  const uses = [
    { consumer: 'group:team-a', version: '1.0.0', day: 20_783, days: 3 },
    { consumer: 'group:team-a', version: '2.0.0', day: 20_784, days: 1 },
    { consumer: 'group:team-b', version: '2.0.0', day: 20_700, days: 1 },
    { consumer: 'client:ci', version: '1.1.0', day: 20_784, days: 90 },
    { consumer: '(others)', version: '0.9.0', day: 20_784, days: 1 },
  ]
  const ask = async (query = '', init?: object) => {
    const app = fixture.app({ auth: await oidc(), consumers: async () => uses })
    const response = await app.request(list + query, init ?? (await tokenOf('writers')))
    const body: ConsumerList & { readonly errors?: string[] } = JSON.parse(await response.text())
    return { status: response.status, body }
  }

  it('says how far behind each is, and which version is deprecated, gone or has findings', async () => {
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(body).toEqual({
      items: [
        {
          consumer: '(others)',
          versions: [{ version: '0.9.0', lastUsed: '2026-11-27', days: 1, state: 'Gone' }],
          lastUsed: '2026-11-27',
          behind: 3,
        },
        {
          consumer: 'group:team-a',
          versions: [
            { version: '2.0.0', lastUsed: '2026-11-27', days: 1 },
            { version: '1.0.0', lastUsed: '2026-11-26', days: 3, critical: 1 },
          ],
          lastUsed: '2026-11-27',
          behind: 2,
        },
        {
          consumer: 'client:ci',
          versions: [{ version: '1.1.0', lastUsed: '2026-11-27', days: 90, state: 'Deprecated' }],
          lastUsed: '2026-11-27',
          behind: 1,
        },
        {
          consumer: 'group:team-b',
          versions: [{ version: '2.0.0', lastUsed: '2026-09-04', days: 1 }],
          lastUsed: '2026-09-04',
          behind: 0,
        },
      ],
      totalCount: 4,
      page: 1,
      pageSize: 20,
      consumers: 4,
      onLatest: 1,
      troubled: 3,
    } satisfies ConsumerList)
  })

  it.each([
    ['?version=2.0.0', ['group:team-a', 'group:team-b']],
    ['?state=behind&page_size=1&page=2', ['group:team-a']],
    ['?state=deprecated', ['(others)', 'client:ci']],
    ['?state=critical', ['group:team-a']],
    ['?q=TEAM-', ['group:team-a', 'group:team-b']],
    ['?q=team-&state=critical', ['group:team-a']],
    ['?q=team-c', []],
  ])('is filtered by %s', async (query, names) => {
    const { body } = await ask(query)
    expect(body.items.map(({ consumer }) => consumer)).toEqual(names)
  })

  it('is for those who may publish, and says how to get there', async () => {
    const refused = await ask('', await tokenOf('readers'))
    expect(refused).toMatchObject({ status: 403 })
    expect(refused.body.errors?.[0]).toMatch(
      /only those who may publish platform\/vpc .* publishNamespaces/,
    )
    // A guest learns nothing of what exists.
    expect((await ask('', {})).status).toBe(403)
    const app = fixture.app({ auth: await open({ mode: 'anonymous' }) })
    expect((await app.request(list)).status).toBe(403)
    expect((await fixture.app().request(list)).status).toBe(403)
  })

  it('is for a service account that may create Versions, where it sees public modules only', async () => {
    const auth = await open({ mode: 'bearer' })
    const app = fixture.app({ auth, consumers: async () => [] })
    const token = await issuer.sign({ sub: 'system:serviceaccount:platform:ci' })
    cluster.tokens.set(token, (path) => (path.includes('selfsubjectaccessreviews') ? 201 : 200))
    expect((await app.request(list, bearer(token))).status).toBe(200)
    expect((await app.request(list.replace('/consumers', ''), bearer(token))).status).toBe(404)
  })

  it('is unavailable while the store is, and downloads go on', async () => {
    const app = fixture.app({
      auth: await oidc(),
      consumers: () => Promise.reject(new Error('the store is down')),
      onDownload: () => undefined,
    })
    expect((await app.request(list, await tokenOf('writers'))).status).toBe(503)
    expect((await app.request(download, await tokenOf('writers'))).status).toBe(204)
  })
})

it('has what was downloaded, after a restart too', async () => {
  const auth = await oidc({ consumers: { isGroup: compileGlob('team-*') } })
  const first = startCounting(fixture.dir)
  const app = fixture.app({ auth, onDownload: (event) => first.downloads.record(event) })
  await app.request(download, await tokenOf('team-a'), { facts: {} })
  await first.downloads.close(5_000)
  const { downloads } = startCounting(fixture.dir)
  const again = fixture.app({ auth, consumers: (resource) => downloads.consumers(resource) })
  const answer = await again.request(list, await tokenOf('writers'))
  expect(await answer.json()).toMatchObject({ items: [{ consumer: 'group:team-a' }], consumers: 1 })
})
