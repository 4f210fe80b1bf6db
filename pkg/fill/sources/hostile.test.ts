import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type LoneServer, serveHttpsAlone } from '../../../hack/testbed/upstream/https-server.ts'
import { type LocalSources, localSources } from './sources.fixture.ts'

let server: LoneServer
let local: LocalSources
let answer: (url: string, outgoing: ServerResponse) => void
const { signal } = new AbortController()
const mebibyte = 1024 * 1024

beforeAll(async () => {
  server = await serveHttpsAlone('hostile', ({ url = '' }, outgoing) => {
    if (url === '/.well-known/terraform.json') {
      outgoing.end('{"modules.v1":"/m/","providers.v1":"/p/"}')
    } else answer(url, outgoing)
  })
})
beforeEach(async () => {
  local = await localSources(server.authority, [server.host], { githubApiUrl: server.origin })
})
afterEach(() => local.close())
afterAll(() => server.close())

const github = () =>
  local.sources.module({ name: 'vpc', provider: 'aws', repoOwner: 'acme' }, 'team').list({ signal })
const registry = () => {
  const source = { type: 'registry', url: `${server.host}/acme/vpc/aws` } as const
  return local.sources.module({ name: 'vpc', provider: 'aws', source }, 'team').list({ signal })
}
const provider = () =>
  local.sources.provider({ name: 'dns', namespace: 'acme' }, 'team').list({ signal })

const sha = 'a'.repeat(40)
const tag = (name: string) => ({ name, commit: { sha } })
const listsOf = { github, registry, provider }

/** Maximum cost of a list, whatever the upstream sends. */
const cheaply = async (work: Promise<unknown>) => {
  const before = process.memoryUsage().heapUsed
  let most = 0
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().heapUsed - before)
  }, 5)
  const outcome = await work.catch((error: unknown) => error)
  clearInterval(watching)
  expect(most).toBeLessThan(250 * mebibyte)
  return outcome
}

it.each(Object.entries(listsOf))(
  'a list of %s with millions of values is refused',
  async (_, list) => {
    const text = `{"versions":[${'1,'.repeat(5 * mebibyte)}1],"modules":[]}`
    answer = (_url, outgoing) => outgoing.end(text)
    expect(await cheaply(list())).toMatchObject({
      reason: 'FetchFailed',
      message: expect.stringContaining('JSON of more than 200000 values'),
    })
  },
)

it.each(Object.entries(listsOf))('refuses a list of %s of 100 MB', async (_, list) => {
  answer = (_url, outgoing) => {
    const some = Buffer.alloc(mebibyte, ' ')
    const send = () => {
      while (outgoing.writable && outgoing.write(some)) continue
      if (outgoing.writable) outgoing.once('drain', send)
    }
    send()
  }
  expect(await cheaply(list())).toMatchObject({
    reason: 'FetchFailed',
    message: expect.stringContaining('larger than 16777216 bytes'),
  })
})

it('stops after 100 pages, and refuses pages that are too large', async () => {
  let pages = 0
  answer = (_url, outgoing) => {
    pages += 1
    outgoing.setHeader('link', `<${server.origin}/repos/acme/vpc/tags?page=1>; rel="next"`)
    outgoing.end(JSON.stringify(Array.from({ length: 100 }, (_, i) => tag(`v${pages}.${i}.0`))))
  }
  await expect(github()).rejects.toMatchObject({
    reason: 'FetchFailed',
    message: expect.stringContaining('has more than 10000 tags'),
  })
  expect(pages).toBe(100)
  answer = (_url, outgoing) => {
    outgoing.end(JSON.stringify(Array.from({ length: 10_000 }, (_, i) => tag(`v1.${i}.0`))))
  }
  await expect(github()).rejects.toMatchObject({ reason: 'FetchFailed' })
})

it('skips tags that are not versions, whatever their text', async () => {
  const names = [
    '1.0.0',
    'v1.0.0',
    '2.0.0\n',
    '3.0.0\u001b[31m',
    '../4.0.0',
    '５.0.0',
    `6.0.0-${'x'.repeat(10_000)}`,
    '7.0.0+../../etc',
    '8.0.0\0',
    '99999999999999999999.0.0',
    '-rf',
    '',
    '9.0.0-rc.1',
  ].filter((name) => name.length <= 1024)
  answer = (_url, outgoing) => outgoing.end(JSON.stringify(names.map(tag)))
  const { versions, skipped } = await github()
  expect(versions.map(({ version, ref }) => [version, ref])).toEqual([
    ['1.0.0', 'v1.0.0'],
    ['9.0.0-rc.1', '9.0.0-rc.1'],
  ])
  expect(skipped).toBe(names.length - 3)
})

it('shortens a long error message to one line', async () => {
  const said = `{"message":"no\\u001b[31m\\nsuch thing ${'x'.repeat(1000)}"}`
  answer = (_url, outgoing) => {
    outgoing.writeHead(500, { 'content-type': 'application/json' }).end(said)
  }
  const { message } = (await github().catch((error: unknown) => error)) as Error
  expect(message).toMatch(/^[ -~…]{1,1024}$/)
  answer = (_url, outgoing) => {
    outgoing.writeHead(500, { 'content-type': 'application/json' })
    outgoing.end(`{"message":[${'{},'.repeat(mebibyte)}{}]}`)
  }
  expect(await cheaply(github())).toMatchObject({ reason: 'FetchFailed' })
})

it('does not follow redirects to a private address, or without end', async () => {
  for (const location of ['http://169.254.169.254/latest/meta-data/', 'https://[fd00:ec2::254]/']) {
    answer = (_url, outgoing) => outgoing.writeHead(302, { location }).end()
    await expect(github()).rejects.toMatchObject({ reason: 'EgressRefused' })
  }
  answer = (url, outgoing) => outgoing.writeHead(302, { location: `${url}x` }).end()
  await expect(github()).rejects.toMatchObject({ reason: 'FetchFailed' })
})
