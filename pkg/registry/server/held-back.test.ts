import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { oidcOptions, TestIssuer } from '../auth/issuer.fixture.ts'
import { AccessFixture } from './access.fixture.ts'
import { createApp } from './app.ts'
import { Fixture } from './registry.fixture.ts'

const fixture = new Fixture()
afterAll(() => fixture[Symbol.dispose]())
let app = fixture.app()
beforeAll(async () => {
  await fixture.withSigner()
  app = fixture.app()
})
const [since, until] = ['2026-11-26T10:00:00Z', '2026-12-03T10:00:00Z']
const young = { version: 'v1.1.0', since, until }
const denied = { version: '1.2.0', since, message: 'denied: stolen token' }
const unlisted = { version: '2.0.0', since, message: 'not allowed: no rule names it' }
const listing = {
  address: 'github.com/acme/vpc',
  depot: 'platform/main',
  heldBack: [unlisted, denied, young],
}
const storageConfig = { fileSystem: { directoryPath: 'providers' } }
const hello = (status: object = {}) =>
  fixture.add('Provider', 'hello', { spec: { providerConfig: { storageConfig } }, status })
const modules = '/depot/modules/v1/platform/vpc/aws'
const providers = '/depot/providers/v1/platform/hello'
const get = async (path: string) => {
  const response = await app.request(path)
  const body: { errors: string[]; versions: object[]; warnings: string[] } = JSON.parse(
    await response.text(),
  )
  return { status: response.status, body }
}

fixture.provider('hello')
fixture.version('Provider', 'hello', '1.0.0', {
  spec: { operatingSystem: 'linux', architecture: 'amd64' },
})
const except =
  'name it in spec.policy.exceptions of the Depot: address github.com/acme/vpc, version'
const youngText = `held back until ${until}: it is too young for the policy of Depot platform/main; its age counts from ${since}; to take it earlier, ${except} v1.1.0`
const deniedText = `refused by the policy of Depot platform/main since ${since}: denied: stolen token; to take it, ${except} 1.2.0`

it.each([
  ['1.1.0', youngText],
  ['1.2.0', deniedText],
  ['2.0.0', 'to take it, add a rule to spec.policy.allow of the Depot'],
])('refuses version %s of a module with what the policy says', async (version, text) => {
  fixture.add('Module', 'vpc', {
    spec: { moduleConfig: { provider: 'aws' } },
    status: { listing },
  })
  const { status, body } = await get(`${modules}/${version}/download`)
  expect(status).toBe(403)
  expect(body.errors[0]).toContain(`version ${version} of module platform/vpc is `)
  expect(body.errors[0]).toContain(text)
  expect((await get(`${modules}/9.0.0/download`)).status).toBe(404)
})

it.each([
  ['Denied', 'stolen; to take it, name it in spec.policy.exceptions of the Depot', '2 versions'],
  ['Unsigned', 'stolen; to take it, ask its publisher to sign it, or change requireS', 'a version'],
  ['Breaking', 'stolen; to take it, set spec.acceptBreaking: true on its Version', 'a version'],
  ['NotAllowed', 'stolen; to take it, add a rule to spec.policy.allow', 'a version'],
  ['Refused', 'stolen; to take it, change spec.policy.rule of the Depot', 'a version'],
])('believes the reason %s, whatever the words of the policy are', async (why, text, news) => {
  const heldBack = [{ ...denied, why, message: 'stolen' }, young]
  fixture.add('Module', 'net', {
    spec: { moduleConfig: { provider: 'aws' } },
    status: { listing: { ...listing, address: 'git.test/net', heldBack } },
  })
  const { status, body } = await get('/depot/modules/v1/platform/net/aws/1.2.0/download')
  expect([status, body.errors[0]]).toEqual([403, expect.stringContaining(text)])
  const browse = async (path: string) =>
    (await (await app.request(`/depot/ui/v1${path}`)).json()) as { items: object[] }
  const { items } = await browse('/held-back?q=net')
  expect(items).toMatchObject([
    { version: '1.2.0', why },
    { version: 'v1.1.0', why: 'TooYoung' },
  ])
  const message = expect.stringContaining(news) as string
  expect(await browse('/resources/platform/module/net')).toMatchObject({ message })
  fixture.add('Module', 'net', { spec: { moduleConfig: { provider: 'aws' } } })
})

it('prints a reason as one line without escapes, and as long as people may write it', async () => {
  const message = `denied: \u001B[31mred\u001B[0m\nsecond line ${'x'.repeat(1000)} the end`
  fixture.add('Module', 'net', {
    spec: { moduleConfig: { provider: 'aws' } },
    status: { listing: { ...listing, heldBack: [{ ...denied, why: 'Denied', message }] } },
  })
  const { status, body } = await get('/depot/modules/v1/platform/net/aws/1.2.0/download')
  expect(status).toBe(403)
  expect(body.errors[0]).not.toMatch(/\p{Cc}/u)
  expect(body.errors[0]).toMatch(/red.*second line x{1000} the end; to take it, name it in spec/)
  hello({ listing: { ...listing, heldBack: [{ ...denied, why: 'Denied', message }] } })
  const { warnings } = (await get(`${providers}/versions`)).body
  expect(warnings[0]).toMatch(/red.*second line x{200,400}…; to take it, name it in spec.*1\.2\.0$/)
  hello()
  fixture.add('Module', 'net', { spec: { moduleConfig: { provider: 'aws' } } })
})

it('says that upstream replaced a version that waits', async () => {
  const heldBack = [{ ...young, why: 'TooYoung', message: 'upstream replaced it' }]
  fixture.add('Module', 'net', {
    spec: { moduleConfig: { provider: 'aws' } },
    status: { listing: { ...listing, heldBack } },
  })
  const { body } = await get('/depot/modules/v1/platform/net/aws/1.1.0/download')
  expect(body.errors[0]).toContain(
    `counts from ${since} (upstream replaced it); to take it earlier`,
  )
  fixture.add('Module', 'net', { spec: { moduleConfig: { provider: 'aws' } } })
})

it('says what a rule says of the signer, although there is a Version', async () => {
  const message = 'refused by the rule: not our key (it has no signature)'
  const heldBack = [{ version: '3.0.0', since, why: 'Refused', message, signedBy: '' }]
  hello({ listing: { ...listing, address: 'registry.test/acme/hello', heldBack } })
  const platform = { operatingSystem: 'linux', architecture: 'amd64' }
  const ready = { type: 'Ready', status: 'False', reason: 'RuleRefused', message }
  const owner = { apiVersion: 'depot.internal/v1alpha1', kind: 'Provider', name: 'hello' }
  fixture.add(
    'Version',
    'hello-3.0.0-linux-amd64',
    {
      spec: { type: 'Provider', version: '3.0.0', ...platform },
      status: { synced: false, conditions: [{ ...ready, lastTransitionTime: since }] },
    },
    { ownerReferences: [owner] },
  )
  const { status, body } = await get(`${providers}/3.0.0/download/linux/amd64`)
  expect(status).toBe(403)
  expect(body.errors[0]).toContain(
    `refused by the policy of Depot platform/main since ${since}: ${message}; to take it, change spec.policy.rule of the Depot`,
  )
  const held = await app.request('/depot/ui/v1/held-back?q=hello')
  expect(await held.json()).toMatchObject({
    items: [{ version: '3.0.0', why: 'Refused', askedFor: 1 }],
  })
  hello()
  expect((await get(`${providers}/3.0.0/download/linux/amd64`)).status).toBe(404)
})

it.each([
  ['a policy that has exceptions', { exceptions: [] }, '/spec/policy/exceptions/-'],
  ['a policy without exceptions', { minimumAge: '7d' }, '/spec/policy/exceptions'],
  ['a policy in global alone', undefined, '/spec/policy'],
])('shows the lines that except a version from %s', async (_, policy, path) => {
  fixture.add('Module', 'net', {
    spec: { moduleConfig: { provider: 'aws' } },
    status: { listing: { ...listing, address: "git.test/it's", heldBack: [young, unlisted] } },
  })
  fixture.add('Depot', 'main', { spec: { ...(policy && { policy }) } })
  const response = await app.request('/depot/ui/v1/held-back?q=net&order=free')
  const { items } = (await response.json()) as {
    items: { version: string; except?: { manifest: string; command: string } }[]
  }
  const [first, second] = items
  expect([first?.version, second?.version]).toEqual(['v1.1.0', '2.0.0'])
  expect(second).not.toHaveProperty('except')
  const { manifest = '', command = '' } = first?.except ?? {}
  const wanted = { address: "git.test/it's", version: '1.1.0', reason: 'WHY', by: 'WHO' }
  expect(parse(manifest)).toEqual({ spec: { policy: { exceptions: [wanted] } } })
  // A shell takes the patch apart.
  const words = execFileSync('sh', ['-c', `kubectl() { printf '%s\\n' "$@"; }; ${command}`])
  const printed = String(words).trim().split('\n')
  expect(printed.slice(0, -1)).toEqual(
    'patch depot main --namespace platform --type json --patch'.split(' '),
  )
  const operations = JSON.parse(printed.at(-1) ?? '') as { path: string; value: object }[]
  const operation = operations.at(-1)
  expect(operation?.path).toBe(path)
  // A command that somebody runs too late undoes nothing.
  const test = { op: 'test', path, value: null }
  expect(operations.slice(0, -1)).toEqual(path.endsWith('/-') ? [] : [test])
  expect(JSON.stringify(operation?.value)).toContain(JSON.stringify(wanted))
  fixture.add('Module', 'net', { spec: { moduleConfig: { provider: 'aws' } } })
})

it('counts the requests that it refuses, and lists what waits with them', async () => {
  const message = { reason: 'HeldBack', message: expect.stringContaining('2 versions') as string }
  fixture.add('Module', 'vpc', {
    spec: { moduleConfig: { provider: 'aws' } },
    status: { listing },
  })
  const browse = async (path: string) => {
    const response = await app.request(`/depot/ui/v1${path}`)
    return (await response.json()) as { items: { version: string; askedFor: number }[] }
  }
  const { items } = await browse('/held-back')
  const before = items.find(({ version }) => version === 'v1.1.0')?.askedFor ?? 0
  await get(`${modules}/1.1.0/download`)
  await get(`${modules}/9.9.9/download`)
  const after = await browse('/held-back?depot=platform/main&q=vpc')
  expect(after).toMatchObject({
    items: [
      {
        why: 'TooYoung',
        version: 'v1.1.0',
        until,
        address: 'github.com/acme/vpc',
        askedFor: before + 1,
        message: youngText,
      },
      { why: 'Denied', version: '1.2.0' },
      { why: 'NotAllowed', version: '2.0.0' },
    ],
    totalCount: 3,
    depots: ['platform/main'],
  })
  expect((await browse('/held-back?why=Denied')).items).toHaveLength(1)
  // An answer that is ready is made again when something was asked for, and when the policy decides again.
  for (const count of [2, 3, 4]) {
    await get(`${modules}/1.1.0/download`)
    const [first] = (await browse('/held-back?q=vpc')).items
    expect(first).toMatchObject({ version: 'v1.1.0', askedFor: before + count })
  }
  fixture.add('Module', 'vpc', {
    spec: { moduleConfig: { provider: 'aws' } },
    status: { listing: { ...listing, heldBack: [denied, young] } },
  })
  expect((await browse('/held-back?q=vpc')).items).toHaveLength(2)
  expect(await browse('/resources/platform/module/vpc')).toMatchObject(message)
  expect(fixture.catalog.heldBackRequests()).toBeGreaterThan(before)
})

it('counts a request once, whichever way it took, and none of a caller who may not see the provider', async () => {
  const own = new AccessFixture()
  const signer = await own.withSigner()
  own.add('Provider', 'hello', {
    spec: { providerConfig: { storageConfig } },
    status: { listing },
  })
  own.bind('team', { expression: '"team" in groups', providerResources: ['*'] })
  const issuer = await TestIssuer.start()
  const token = `Bearer ${await issuer.sign({ sub: 'ann', groups: ['team'] })}`
  const oidc = { ...oidcOptions(issuer.url), allowGuests: true }
  const auth = own.auth({ mode: 'oidc', oidc })
  await auth.started
  const { catalog, archives, log } = own
  const whole = createApp({ catalog, archives, log, signer, auth })
  const statusOf = async (url: string, authorization?: string) => {
    const request = { url, origin: 'http://depot.test', authorization, facts: {} }
    const ready = whole.hot({
      ...request,
      ifNoneMatch: undefined,
      acceptEncoding: undefined,
      isForwarded: false,
    })
    expect(ready).toBeUndefined()
    const headers = new Headers(authorization === undefined ? {} : { authorization })
    return (await whole.routes.request(url, { headers })).status
  }
  const revision = () => catalog.heldBackRevision
  try {
    const urls = [
      `${providers}/1.1.0/download/linux/amd64`,
      `${providers}/1.1.0/SHA256SUMS/linux/amd64`,
      `${providers}/1.1.0/SHA256SUMS.sig/linux/amd64`,
      '/depot/providers/v1/download/platform/hello/1.1.0?os=linux&arch=amd64',
    ]
    const before = revision()
    const guessed = `sha256=${'0'.repeat(64)}`
    for (const url of urls) {
      const refused = url.includes('/hello/1.1.0/download/') ? 403 : 404
      expect(await statusOf(url)).toBe(refused)
      expect(await statusOf(`${url}${url.includes('?') ? '&' : '?'}${guessed}`)).toBe(refused)
    }
    expect([catalog.heldBackRequests(), revision()]).toEqual([0, before])
    for (const [index, url] of urls.entries()) {
      expect(await statusOf(url, token)).toBe(403)
      expect(catalog.heldBackRequests()).toBe(index + 1)
    }
    expect(revision()).toBe(before + urls.length)
  } finally {
    await auth.close()
    issuer.stop()
    own[Symbol.dispose]()
  }
})

it('warns of versions of a provider that are too young or denied, not of those that no rule allows', async () => {
  hello({ listing })
  const path = `${providers}/1.1.0/download/linux/amd64`
  const refused = await get(path)
  expect(refused).toMatchObject({
    status: 403,
    body: { errors: [expect.stringContaining(youngText)] },
  })
  const { body } = await get(`${providers}/versions`)
  expect(body.versions).toHaveLength(1)
  expect(body.warnings).toEqual([
    `version 1.2.0 is ${deniedText}`,
    `version v1.1.0 is ${youngText}`,
  ])
  const many = Array.from({ length: 8 }, (_, n) => ({ ...young, version: `1.9.${n}` }))
  hello({ listing: { ...listing, heldBack: many } })
  const { warnings } = (await get(`${providers}/versions`)).body
  expect([warnings.length, warnings.at(-1)]).toEqual([6, '3 more versions are held back'])
  hello({ listing: { ...listing, heldBack: [{ ...young, version: 'v1.0.0' }, ...many.slice(2)] } })
  const served = (await get(`${providers}/versions`)).body
  expect([served.warnings.length, served.warnings.at(-1)]).toEqual([
    6,
    '1 more version is held back',
  ])
  hello()
  expect((await get(`${providers}/versions`)).body).not.toHaveProperty('warnings')
  expect((await get(path)).status).toBe(404)
})
