import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GitServer } from '../../../hack/testbed/upstream/git.ts'
import {
  createUpstreamAuthority,
  type HttpsServer,
  serveHttps,
  type UpstreamAuthority,
} from '../../../hack/testbed/upstream/https-server.ts'
import { isRefName } from './git.ts'
import { runGit } from './git-process.ts'
import { fetching, type LocalSources, localSources } from './sources.fixture.ts'

let authority: UpstreamAuthority
let server: GitServer
let other: HttpsServer
let local: LocalSources
const { signal } = new AbortController()

beforeAll(async () => {
  authority = createUpstreamAuthority()
  server = await GitServer.start(authority)
  other = await serveHttps(authority, 'other', (_incoming, outgoing) => outgoing.end())
})
beforeEach(async () => {
  local = await localSources(authority, [server.host, other.host])
})
afterEach(async () => {
  server.authorization = undefined
  server.redirectTo = undefined
  server.seen.length = 0
  await local.close()
})
afterAll(async () => {
  await Promise.all([server.close(), other.close()])
  authority.remove()
})

const source = (repository: string, more: object = {}, from = local) =>
  from.sources.module({ source: { type: 'git', url: server.urlOf(repository), ...more } }, 'team')

const namesIn = (file: string) =>
  execFileSync('tar', ['--list', '--file', file], { encoding: 'utf8' }).trim().split('\n')

describe('a git source', () => {
  it('lists tags with the commits that they lead to, and fetches the files of one', async () => {
    const commit = server.tag('vpc', 'v1.0.0', { 'main.tf': 'locals {}\n', 'a/b.tf': '' })
    const light = server.tag('vpc', 'v1.1.0', { 'main.tf': '' }, false)
    const { versions } = await source('vpc').list({ signal })
    expect(versions).toEqual([
      { version: '1.0.0', ref: 'v1.0.0', commit },
      { version: '1.1.0', ref: 'v1.1.0', commit: light },
    ])
    const resolved = await source('vpc').resolve('1.0.0', { signal })
    expect(resolved.revision).toBe(`v1.0.0@sha1:${commit}`)
    const { file, sizeBytes } = await source('vpc').fetch(resolved, fetching)
    expect(namesIn(file.path).filter((name) => !name.endsWith('/'))).toEqual([
      'repository/a/b.tf',
      'repository/main.tf',
    ])
    expect(local.spool.reservedBytes).toBe(sizeBytes)
    expect(readdirSync(dirname(file.path)).length).toBe(1)
    await file.remove()
  })

  it('tells how far the clock of its host is ahead, if somebody needs ages', async () => {
    server.tag('clock', 'v1.0.0', {})
    const hour = 3_600_000
    const late = await localSources(authority, [server.host], { clock: () => Date.now() - hour })
    const skewOf = async (asking: object) =>
      (await source('clock', {}, late).list({ signal, ...asking })).skewMs
    try {
      expect(await skewOf({})).toBeUndefined()
      const listed = { datesOf: () => true, maxAgeMs: Infinity }
      server.redirectTo = 'https://about.git.test'
      expect(Math.abs(((await skewOf(listed)) ?? 0) - hour)).toBeLessThan(60_000)
      server.redirectTo = undefined
      const skewMs = await skewOf({ datesOf: () => true })
      expect(Math.abs((skewMs ?? 0) - hour)).toBeLessThan(60_000)
      // An old answer says nothing about the clock of today.
      const end = server.faults.on(/^\/$/, 'silent')
      expect(await skewOf({ ...listed, signal: AbortSignal.timeout(500) })).toBeUndefined()
      end()
    } finally {
      await late.close()
    }
  })

  it('reports an unchanged list', async () => {
    server.tag('same', 'v1.0.0', {})
    expect((await source('same').list({ signal })).unchanged).toBe(false)
    expect((await source('same').list({ signal })).unchanged).toBe(true)
    const restarted = source('same', {}, await local.restart())
    expect((await restarted.list({ signal })).unchanged).toBe(true)
    server.tag('same', 'v1.0.1', {})
    expect((await restarted.list({ signal })).unchanged).toBe(false)
  })

  it('sends the credentials of its Secret, and fails with wrong ones', async () => {
    server.tag('private', 'v1.0.0', { 'main.tf': '' })
    server.authorization = `Basic ${Buffer.from('me:pa:ss').toString('base64')}`
    local.secrets.set('team/git', { username: Buffer.from('me'), password: Buffer.from('pa:ss') })
    local.secrets.set('team/wrong', { token: Buffer.from('wrong') })
    const secret = (name: string) => source('private', { secretRef: { name } })
    const resolved = await secret('git').resolve('1.0.0', { signal })
    const { file } = await secret('git').fetch(resolved, fetching)
    await file.remove()
    await expect(secret('wrong').list({ signal })).rejects.toMatchObject({ reason: 'AccessDenied' })
    await expect(source('private').list({ signal })).rejects.toMatchObject({
      reason: 'AccessDenied',
    })
    await expect(secret('none').list({ signal })).rejects.toMatchObject({ reason: 'SecretInvalid' })
  })

  it('follows no redirect, so its credential is not sent elsewhere', async () => {
    server.redirectTo = other.origin
    local.secrets.set('team/git', { token: Buffer.from('secret') })
    const moved = source('vpc', { secretRef: { name: 'git' } })
    await expect(moved.list({ signal })).rejects.toMatchObject({ reason: 'FetchFailed' })
    expect(other.seen).toEqual([])
  })

  it('notices a tag that was moved after it was resolved', async () => {
    server.tag('moving', 'v1.0.0', { 'main.tf': 'a' })
    const resolved = await source('moving').resolve('1.0.0', { signal })
    server.tag('moving', 'v1.0.0', { 'main.tf': 'b' })
    await expect(source('moving').fetch(resolved, fetching)).rejects.toThrow('the tag was moved')
    expect(local.spool.reservedBytes).toBe(0)
  })

  it('aborts a fetch that is too large, and removes its files', async () => {
    // Random bytes cannot be compressed.
    const random = Buffer.from(Array.from({ length: 60_000 }, () => Math.random() * 256)).toString(
      'base64',
    )
    server.tag('large', 'v1.0.0', { 'main.tf': random })
    const resolved = await source('large').resolve('1.0.0', { signal })
    const fetched = source('large').fetch(resolved, {
      signal,
      limits: { kind: 'module', packedBytes: 10_000 },
    })
    await expect(fetched).rejects.toMatchObject({ reason: 'ArchiveTooLarge' })
    expect(local.spool.reservedBytes).toBe(0)
  })

  it('names the problem if repository, git or certificate is missing', async () => {
    await expect(source('nothing').list({ signal })).rejects.toMatchObject({
      reason: 'UpstreamNotFound',
    })
    const without = await localSources(authority, [server.host], { gitCommand: '/nonexistent/git' })
    await expect(source('vpc', {}, without).list({ signal })).rejects.toMatchObject({
      reason: 'GitUnavailable',
      terminal: true,
    })
    await without.close()
  })

  it('aborts with its signal', async () => {
    const abort = new AbortController()
    const list = source('vpc').list({ signal: abort.signal })
    abort.abort(new Error('stopping'))
    await expect(list).rejects.toThrow('stopping')
  })

  it('uses neither the configuration nor the credentials of this machine', async () => {
    server.tag('clean', 'v1.0.0', { 'main.tf': '' })
    const before = process.env['GIT_CONFIG_PARAMETERS']
    process.env['GIT_CONFIG_PARAMETERS'] = `'http.extraHeader'='X-Leak: 1'`
    try {
      await source('clean').list({ signal })
    } finally {
      if (before === undefined) delete process.env['GIT_CONFIG_PARAMETERS']
      else process.env['GIT_CONFIG_PARAMETERS'] = before
    }
    expect(server.seen.length).toBeGreaterThan(0)
    expect(server.seen.some(({ headers }) => 'x-leak' in headers)).toBe(false)
  })
})

it.each([
  'ext::sh -c touch% /tmp/x',
  'file:///etc',
  'ssh://git@localhost/x.git',
  'git@localhost:x.git',
  '--upload-pack=touch /tmp/x',
  '/etc',
  'https://me:secret@localhost/x.git',
])('the URL %s never reaches git', (url) => {
  const make = () => local.sources.module({ source: { type: 'git', url } }, 'team')
  expect(make).toThrow(expect.objectContaining({ reason: 'InvalidSpec' }))
  expect(make).not.toThrow(/me:secret/)
})

it('refuses a host that no option names', async () => {
  const url = 'https://git.example.com/x.git'
  const refused = local.sources.module({ source: { type: 'git', url } }, 'team').list({ signal })
  await expect(refused).rejects.toMatchObject({ reason: 'EgressRefused', terminal: true })
})

it('keeps the output of git for readers that begin after its end', async () => {
  const { stdout, ended } = runGit(['version'], { command: 'git', config: {}, signal })
  await ended
  expect(await text(stdout)).toContain('git version')
})

it.each(['v1.0.0', 'vpc/v1.0.0', 'a-b_c+d', 'ü/1.0.0'])(
  'accepts %s as the name of a ref',
  (name) => {
    expect(isRefName(name)).toBe(true)
  },
)

it.each([
  '',
  '@',
  '-x',
  '/x',
  'x/',
  'a..b',
  'a b',
  'a:b',
  'a^b',
  'a~1',
  'a*',
  'a?',
  'a[',
  'a\\b',
  'x.lock',
  '.x',
  'a/.b',
  'a@{1}',
  'a\nb',
  'a//b',
  'x'.repeat(256),
])('refuses %j as the name of a ref', (name) => {
  expect(isRefName(name)).toBe(false)
})
