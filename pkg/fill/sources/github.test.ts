import { generateKeyPairSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { GithubServer } from '../../../hack/testbed/upstream/github.ts'
import {
  createUpstreamAuthority,
  type UpstreamAuthority,
} from '../../../hack/testbed/upstream/https-server.ts'
import { fetching, type LocalSources, localSources } from './sources.fixture.ts'
import type { ModuleOrigin } from './sources.ts'

let authority: UpstreamAuthority
let github: GithubServer
let local: LocalSources
const { signal } = new AbortController()

beforeAll(async () => {
  authority = createUpstreamAuthority()
  github = await GithubServer.start(authority)
})
beforeEach(async () => {
  local = await localSources(authority, github.hosts, { githubApiUrl: github.apiUrl })
})
afterEach(async () => {
  github.faults.clear()
  github.forget()
  github.repositories.clear()
  github.remaining = 5000
  await local.close()
})
afterAll(async () => {
  await github.close()
  authority.remove()
})

const files = { 'main.tf': 'locals {}\n' }
const vpc = (origin: Partial<ModuleOrigin> = {}, from = local) =>
  from.sources.module({ repoOwner: 'acme', name: 'vpc', ...origin }, 'team')

async function filesIn(path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const entry of createReadStream(path).pipe(createGunzip()).pipe(extract())) {
    found[entry.header.name] = await text(entry)
  }
  return found
}

it.each([
  ['MPL-2.0', 'MPL-2.0'],
  ['NOASSERTION', undefined],
  [undefined, undefined],
])('names the licence %s of a repository, if somebody needs it', async (licence, expected) => {
  github.tag('acme/vpc', 'v1.0.0', files)
  const repository = github.repositories.get('acme/vpc') ?? { tags: new Map<string, []>() }
  github.repositories.set('acme/vpc', { ...repository, ...(licence && { licence }) })
  expect((await vpc().list({ signal, needsLicence: true })).licence).toBe(expected)
  expect((await vpc().list({ signal })).licence).toBeUndefined()
  const { remaining } = github
  expect((await vpc().list({ signal, needsLicence: true })).licence).toBe(expected)
  expect(github.remaining).toBe(remaining)
  github.repositories.set('acme/vpc', { ...repository, licence: 'MIT' })
  expect((await vpc().list({ signal, needsLicence: true })).licence).toBe('MIT')
  expect(github.remaining).toBe(remaining - 1)
  // Without the answer, nobody knows whether a rule holds.
  github.faults.on(/vpc$/, 'error')
  await expect(vpc().list({ signal, needsLicence: true })).rejects.toMatchObject({
    reason: 'FetchFailed',
  })
})

it('lists the tags that are versions, with their commits', async () => {
  for (const tag of ['v1.0.0', '1.1.0', 'latest', 'v1.1', 'v2.0.0-rc.1', '1.0.0']) {
    github.tag('acme/vpc', tag, files)
  }
  const { versions, skipped, unchanged } = await vpc().list({ signal })
  expect(versions.map(({ version, ref }) => [version, ref])).toEqual([
    ['1.0.0', 'v1.0.0'],
    ['1.1.0', '1.1.0'],
    ['2.0.0-rc.1', 'v2.0.0-rc.1'],
  ])
  expect([skipped, unchanged, versions[0]?.commit?.length]).toEqual([2, false, 40])
})

it('reads the dates of releases, but of no draft and only if asked to', async () => {
  const tags = Array.from({ length: 120 }, (_, n) => `v1.${n}.0`)
  for (const tag of [...tags, 'v2.0.0', 'v3.0.0']) github.tag('acme/vpc', tag, files)
  const at = '2026-11-20T10:00:00Z'
  const releases = new Map([...tags.map((tag) => [tag, at] as const), ['v2.0.0', null] as const])
  const repository = github.repositories.get('acme/vpc') ?? { tags: new Map<string, []>() }
  github.repositories.set('acme/vpc', { ...repository, releases })
  const { versions } = await vpc().list({ signal, datesOf: () => true })
  expect(versions.filter(({ publishedAt }) => publishedAt === at)).toHaveLength(120)
  expect(versions.filter(({ publishedAt }) => publishedAt === undefined)).toHaveLength(2)
  github.forget()
  expect((await vpc().list({ signal, datesOf: () => true })).unchanged).toBe(true)
  expect(github.asked.filter((url) => url.includes('/releases'))).toHaveLength(2)
  github.forget()
  await vpc().list({ signal })
  expect(github.asked.filter((url) => url.includes('/releases'))).toEqual([])
})

it('asks for the whole list after four hours, or for a person after a minute: a damaged one keeps its ETag', async () => {
  let aheadMs = 0
  const clock = () => Date.now() + aheadMs
  const ahead = await localSources(authority, github.hosts, { githubApiUrl: github.apiUrl, clock })
  github.tag('acme/vpc', 'v1.0.0', files)
  const damage = () =>
    github.faults.on(/tags/, (given) => ({ ...given, body: Buffer.from('[]') }), 1)
  const listed = async (afterMs: number, urgent = false) => {
    aheadMs += afterMs
    const from = await ahead.restart()
    return (await vpc({}, from).list({ signal, urgent })).versions.length
  }
  damage()
  expect(await listed(0)).toBe(0)
  expect(await listed(3 * 3_600_000)).toBe(0)
  expect(await listed(3_600_000)).toBe(1)
  damage()
  expect(await listed(5 * 3_600_000)).toBe(0)
  expect(await listed(30_000, true)).toBe(0)
  expect(await listed(31_000, true)).toBe(1)
  await ahead.close()
})

it('sends the ETag of the last list, even after a restart, which costs no quota', async () => {
  for (let patch = 0; patch < 150; patch += 1) github.tag('acme/vpc', `v1.0.${patch}`, files)
  expect((await vpc().list({ signal })).versions.length).toBe(150)
  expect(github.remaining).toBe(4998)
  expect(await vpc().list({ signal })).toMatchObject({ unchanged: true })
  const { versions, unchanged } = await vpc({}, await local.restart()).list({ signal })
  expect([versions.length, unchanged, github.remaining]).toEqual([150, true, 4998])
  github.tag('acme/vpc', 'v1.0.150', files)
  const after = await vpc().list({ signal })
  expect([after.versions.length, after.unchanged]).toEqual([151, false])
})

it('uses the list of the previous process if it is recent enough', async () => {
  github.tag('acme/vpc', 'v1.0.0', files)
  await vpc().list({ signal })
  const restarted = vpc({}, await local.restart())
  const { versions } = await restarted.list({ signal, maxAgeMs: 3_600_000 })
  expect([versions.length, github.asked.length]).toEqual([1, 1])
})

it('resolves many versions with one request, and lists again for a new version', async () => {
  github.tag('acme/vpc', 'v1.0.0', files)
  github.tag('acme/vpc', 'v1.1.0', files)
  await vpc().list({ signal })
  const { revision } = await vpc().resolve('v1.0.0', { signal })
  expect(revision).toMatch(/^v1\.0\.0@sha1:[0-9a-f]{40}$/)
  await vpc().resolve('1.1.0', { signal })
  expect(github.asked.length).toBe(1)
  github.tag('acme/vpc', 'v1.2.0', files)
  await vpc().resolve('1.2.0', { signal })
  expect(github.asked.length).toBe(2)
  await expect(vpc().resolve('9.0.0', { signal })).rejects.toMatchObject({
    reason: 'UpstreamNotFound',
  })
})

it('follows the redirect to the archive of a commit without sending the token there', async () => {
  github.repositories.set('acme/vpc', { isPrivate: true, tags: new Map() })
  github.tag('acme/vpc', 'v1.0.0', files)
  github.tokens.add('secret')
  local.secrets.set('team/depot-github', { token: Buffer.from('secret\n') })
  const source = vpc({ githubClientConfig: { useAuthenticatedClient: true } })
  const resolved = await source.resolve('1.0.0', { signal })
  const fetched = await source.fetch(resolved, fetching)
  const [name = '', content] = Object.entries(await filesIn(fetched.file.path))[0] ?? []
  expect([name, content]).toEqual([
    expect.stringMatching(/^acme-vpc-[0-9a-f]{7}\/main\.tf$/),
    'locals {}\n',
  ])
  expect([local.spool.reservedBytes, github.leaks]).toEqual([fetched.sizeBytes, []])
  await fetched.file.remove()
})

it('reads repository, tag prefix and folder from the config', async () => {
  github.tag('acme/mono', 'vpc/v1.0.0', files)
  github.tag('acme/mono', 'dns/v2.0.0', files)
  const source = vpc({
    repoUrl: 'https://github.com/acme/mono.git',
    source: { type: 'github', tagPrefix: 'vpc/v', path: 'modules/vpc' },
  })
  const { versions } = await source.list({ signal })
  expect(versions.map(({ version, ref }) => [version, ref])).toEqual([['1.0.0', 'vpc/v1.0.0']])
  const fetched = await source.fetch(await source.resolve('1.0.0', { signal }), fetching)
  expect(fetched.path).toBe('modules/vpc')
})

it('uses the new token if its Secret was changed meanwhile', async () => {
  const token = (value: string) => ({ token: Buffer.from(value) })
  github.repositories.set('acme/vpc', { isPrivate: true, tags: new Map() })
  for (let minor = 0; minor < 150; minor += 1) github.tag('acme/vpc', `v1.${minor}.0`, files)
  github.tokens.add('first')
  local.secrets.set('team/depot-github', token('first'))
  const source = vpc({ githubClientConfig: { useAuthenticatedClient: true } })
  // After the first of two pages.
  github.onPage = () => {
    github.onPage = undefined
    github.tokens.delete('first')
    github.tokens.add('second')
    local.secrets.set('team/depot-github', token('second'))
  }
  expect((await source.list({ signal })).versions).toHaveLength(150)

  const resolved = await source.resolve('1.0.0', { signal })
  github.tokens.clear()
  github.tokens.add('third')
  const denied = { reason: 'AccessDenied' }
  await expect(source.fetch(resolved, fetching)).rejects.toMatchObject(denied)
  local.secrets.set('team/depot-github', token('third'))
  const { file } = await source.fetch(resolved, fetching)
  expect(Object.keys(await filesIn(file.path))).toHaveLength(1)
  await file.remove()
})

it('signs in as an app, keeps the token, and requests another one when it is refused', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  github.addApp('12', pem)
  github.repositories.set('acme/vpc', { isPrivate: true, tags: new Map() })
  github.tag('acme/vpc', 'v1.0.0', files)
  local.secrets.set('team/app', {
    githubAppID: Buffer.from('12'),
    githubInstallID: Buffer.from('34'),
    githubPrivateKey: Buffer.from(Buffer.from(pem).toString('base64')),
  })
  const source = vpc({ githubClientConfig: { secretName: 'app' } })
  await source.list({ signal })
  await source.list({ signal })
  const exchanges = () => github.asked.filter((line) => line.startsWith('POST')).length
  expect(exchanges()).toBe(1)
  github.tokens.clear()
  await source.list({ signal })
  expect(exchanges()).toBe(2)
  github.apps.clear()
  github.tokens.clear()
  await expect(source.list({ signal })).rejects.toMatchObject({
    reason: 'SecretInvalid',
    message: expect.stringContaining('check githubAppID'),
  })
})

it('shares the token of an app only between Secrets with its key', async () => {
  const keyOf = () =>
    generateKeyPairSync('rsa', { modulusLength: 2048 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString()
  const pem = keyOf()
  github.addApp('56', pem)
  github.repositories.set('acme/vpc', { isPrivate: true, tags: new Map() })
  github.tag('acme/vpc', 'v1.0.0', files)
  const secretOf = (key: string) => ({
    githubAppID: Buffer.from('56'),
    githubInstallID: Buffer.from('78'),
    githubPrivateKey: Buffer.from(key),
  })
  local.secrets.set('team/app', secretOf(pem))
  local.secrets.set('evil/app', secretOf(keyOf()))
  const origin = { repoOwner: 'acme', name: 'vpc', githubClientConfig: { secretName: 'app' } }
  expect((await local.sources.module(origin, 'team').list({ signal })).versions).toHaveLength(1)
  const stolen = local.sources.module(origin, 'evil')
  const refused = { reason: 'SecretInvalid' }
  await expect(stolen.list({ signal })).rejects.toMatchObject(refused)
  const maxAgeMs = Number.POSITIVE_INFINITY
  await expect(stolen.list({ signal, maxAgeMs })).rejects.toMatchObject(refused)
  const resolved = { version: '1.0.0', ref: 'v1.0.0', revision: 'v1.0.0' }
  await expect(stolen.fetch(resolved, fetching)).rejects.toMatchObject(refused)
})

it.each([
  [{}, '"githubAppID" of the Secret "depot-github" is missing: give token'],
  [{ token: '' }, '"token" of the Secret "depot-github" is empty'],
  [{ token: 'a\nb' }, 'visible ASCII'],
  [{ githubAppID: '1' }, '"githubInstallID"'],
  [{ githubAppID: '1', githubInstallID: '2', githubPrivateKey: 'no key' }, 'RSA private key'],
  [undefined, 'there is no Secret "depot-github" in the namespace team'],
])('never sends a request without credentials if the Secret is %j', async (data, message) => {
  if (data !== undefined) {
    const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const)
    local.secrets.set('team/depot-github', Object.fromEntries(entries))
  }
  const source = vpc({ githubClientConfig: { useAuthenticatedClient: true } })
  const failed = await source.list({ signal }).catch((error: unknown) => error)
  expect(failed).toMatchObject({
    reason: 'SecretInvalid',
    terminal: true,
    message: expect.stringContaining(message),
  })
  expect(github.asked).toEqual([])
})

it.each([
  ['limited', 'RateLimited', { retryAfterMs: expect.closeTo(120_000, -4) }],
  ['error', 'FetchFailed', { terminal: false }],
  ['cut', 'FetchFailed', { terminal: false }],
  ['html', 'FetchFailed', { message: expect.stringContaining('no JSON (content type text/html)') }],
] as const)('says %s as %s', async (fault, reason, more) => {
  github.tag('acme/vpc', 'v1.0.0', files)
  github.faults.on(/tags/, fault)
  await expect(vpc().list({ signal })).rejects.toMatchObject({ reason, ...more })
})

it.each([
  ['error', 'status 500'],
  ['cut', ''],
  ['html', 'sent no archive (content type text/html): this is a web page, not an archive'],
] as const)(
  'leaves nothing in the spool when an archive is answered with %s, and says so',
  async (fault, says) => {
    github.tag('acme/vpc', 'v1.0.0', files)
    const resolved = await vpc().resolve('1.0.0', { signal })
    github.faults.on(/legacy/, fault)
    await expect(vpc().fetch(resolved, fetching)).rejects.toMatchObject({
      reason: 'FetchFailed',
      message: expect.stringContaining(says),
    })
    expect(local.spool.reservedBytes).toBe(0)
  },
)

it('reports that it waits for space in the spool', async () => {
  github.tag('acme/vpc', 'v1.0.0', files)
  const resolved = await vpc().resolve('1.0.0', { signal })
  const taken = await local.spool.reserve(local.spool.sizeBytes, { signal })
  const waiting = Promise.withResolvers<void>()
  const fetched = vpc().fetch(resolved, { ...fetching, onWaiting: waiting.resolve })
  await waiting.promise
  await taken.remove()
  await (await fetched).file.remove()
  expect(local.spool.reservedBytes).toBe(0)
})

it('reads one file at a commit, without its archive, and with the credential of the repository', async () => {
  github.tag('acme/vpc', 'v1.0.0', { ...files, 'go.mod': 'module vpc\n', 'docs/a': '' })
  github.tokens.add('secret')
  const repository = github.repositories.get('acme/vpc') ?? { tags: new Map<string, []>() }
  github.repositories.set('acme/vpc', { ...repository, isPrivate: true })
  local.secrets.set('team/github', { token: Buffer.from('secret') })
  const source = vpc({ githubClientConfig: { secretName: 'github' } })
  const resolved = await source.resolve('1.0.0', { signal })
  github.forget()
  const read = (path: string, maxBytes = 100) => source.file?.(resolved, path, { signal, maxBytes })
  expect((await read('go.mod'))?.toString()).toBe('module vpc\n')
  expect(await read('go.sum')).toBeUndefined()
  const [, commit] = resolved.revision.split(':')
  const contents = (path: string) => `GET /repos/acme/vpc/contents/${path}?ref=${commit}`
  const isThere = `GET /repos/acme/vpc/commits/${commit}`
  expect(github.asked).toEqual([contents('go.mod'), contents('go.sum'), isThere])
  await expect(read('go.mod', 5)).rejects.toMatchObject({ cause: { reason: 'TooLarge' } })
  expect(await read('docs')).toBeUndefined()
  github.faults.on(/contents/, 'error')
  await expect(read('go.mod')).rejects.toMatchObject({ reason: 'FetchFailed' })
})

it('says that a repository cannot be read, and not that it lacks a file', async () => {
  github.tag('acme/vpc', 'v1.0.0', files)
  const resolved = await vpc().resolve('1.0.0', { signal })
  const read = () => vpc().file?.(resolved, 'go.mod', { signal, maxBytes: 100 })
  expect(await read()).toBeUndefined()
  github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'moved' })
  await expect(read()).rejects.toMatchObject({
    message: expect.stringContaining('No commit found'),
  })
  const { tags } = github.repositories.get('acme/vpc') ?? { tags: new Map<string, []>() }
  github.repositories.set('acme/vpc', { tags, isPrivate: true })
  await expect(read()).rejects.toMatchObject({
    reason: 'UpstreamNotFound',
    message: expect.stringContaining('status 404 ("Not Found")'),
  })
})

it('says whether everybody may read a repository that it reads with a credential', async () => {
  github.tag('acme/vpc', 'v1.0.0', files)
  expect(await vpc().isPublic?.({ signal })).toBe(true)
  expect(github.asked).toEqual([])
  github.tokens.add('secret')
  local.secrets.set('team/github', { token: Buffer.from('secret') })
  const source = vpc({ githubClientConfig: { secretName: 'github' } })
  expect(await source.isPublic?.({ signal })).toBe(true)
  const { remaining } = github
  expect(await source.isPublic?.({ signal })).toBe(true)
  expect(github.remaining).toBe(remaining)
  const repository = github.repositories.get('acme/vpc') ?? { tags: new Map<string, []>() }
  github.repositories.set('acme/vpc', { ...repository, isPrivate: true })
  expect(await source.isPublic?.({ signal })).toBe(false)
})

it('asks for a list again for a version that it lacks, but only if it is older', async () => {
  github.tag('acme/vpc', 'v1.0.0', files)
  const day = 24 * 3_600_000
  await vpc().list({ signal })
  github.forget()
  const resolve = (version: string, maxIncompleteAgeMs: number) =>
    vpc().resolve(version, { signal, maxAgeMs: day, maxIncompleteAgeMs })
  expect((await resolve('1.0.0', 0)).ref).toBe('v1.0.0')
  for (const version of ['1.1.0', '1.2.0']) {
    await expect(resolve(version, day)).rejects.toMatchObject({ reason: 'UpstreamNotFound' })
  }
  expect(github.asked).toEqual([])
  github.tag('acme/vpc', 'v1.1.0', files)
  expect((await resolve('1.1.0', 0)).ref).toBe('v1.1.0')
  expect(github.asked).toHaveLength(1)
})

it("repeats GitHub's message about a missing repository", async () => {
  await expect(vpc().list({ signal })).rejects.toMatchObject({
    reason: 'UpstreamNotFound',
    message: expect.stringContaining('status 404 ("Not Found")'),
  })
})

it.each([
  { repoUrl: 'http://github.com/acme/vpc' },
  { repoUrl: 'https://token@github.com/acme/vpc' },
  { repoUrl: 'https://github.com/acme' },
  { repoUrl: 'https://github.com/acme/../vpc/..' },
  { repoOwner: 'acme/../..' },
  { repoOwner: undefined },
  { name: '..' },
])('refuses the repository %j', (origin) => {
  expect(() => vpc(origin)).toThrow(expect.objectContaining({ reason: 'InvalidSpec' }))
})
