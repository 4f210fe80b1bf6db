import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { locked } from './lock.ts'
import { digestOf } from './registry.ts'

const digest = (of: string): string => `sha256:${of.repeat(64)}`
const root = join(import.meta.dirname, '../..')

it('the lock of Debian has every package of the runtime bases, for each platform', () => {
  const bases = readFileSync(join(root, 'hack/image/bases'), 'utf8')
  const packages = [...bases.matchAll(/^(?:git_|scanning_)?packages='(.*)'$/gm)].flatMap(
    ([, names = '']) => names.split(' '),
  )
  expect(packages).toEqual(expect.arrayContaining(['libc6', 'git']))
  const lines = readFileSync(join(root, 'hack/image/debian.lock'), 'utf8').trim().split('\n')
  expect(lines.filter((line) => !/^\S+ \S+ \S+ [0-9a-f]{64}$/.test(line))).toEqual([])
  expect(lines.map((line) => line.split(' ', 2).join(' '))).toEqual(
    ['amd64', 'arm64'].flatMap((of) => packages.map((name) => `${name} ${of}`)),
  )
})

describe('a lock of digests', () => {
  it('is written into the bases of the Dockerfile', async () => {
    const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
    const asked: string[] = []
    const after = await locked(text, async (repository, tag) => {
      asked.push(`${repository}:${tag}`)
      return digest('a')
    })
    expect(asked).toEqual([
      'docker.io/library/node:24-trixie-slim',
      'gcr.io/distroless/nodejs24-debian13:nonroot',
    ])
    expect(after.split('\n').filter((line) => line.endsWith(digest('a')))).toHaveLength(2)
    expect(after.replaceAll(/@sha256:\w+/g, '')).toBe(text.replaceAll(/@sha256:\w+/g, ''))
  })

  it.each(['broker', 'valkey'])(
    "is written into the chart's table of %s, also over an existing digest",
    async (name) => {
      const text = readFileSync(join(root, `hack/chart/values/${name}.ts`), 'utf8')
      const once = await locked(text, async () => digest('a'))
      expect(once).toMatch(/tag: '[\w.]+',\s*digest: 'sha256:a{64}',?\s*}/)
      const formatted = once.replaceAll(/, (tag|digest): /g, ',\n      $1: ')
      expect(await locked(formatted, async () => digest('a'))).toContain(digest('a'))
      expect(await locked(once, async () => digest('b'))).toBe(
        once.replaceAll(digest('a'), digest('b')),
      )
    },
  )
})

describe('a registry', () => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { authorization = '' } = request.headers
    requests.push(`${request.method} ${request.url} ${authorization}`.trim())
    if (request.url?.startsWith('/token')) {
      response.end(JSON.stringify({ token: 'pull' }))
    } else if (authorization !== 'Bearer pull') {
      const realm = `http://127.0.0.1:${port()}/token`
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="stand-in"` })
      response.end()
    } else if (request.url === '/v2/library/node/manifests/24') {
      response.writeHead(200, { 'docker-content-digest': digest('c') })
      response.end()
    } else {
      response.writeHead(404)
      response.end()
    }
  })
  const port = (): number => (server.address() as AddressInfo).port

  beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)))
  afterAll(() => new Promise((done) => server.close(done)))

  it('is asked with a token for pulling', async () => {
    expect(await digestOf(`127.0.0.1:${port()}/library/node`, '24')).toBe(digest('c'))
    expect(requests).toEqual([
      'HEAD /v2/library/node/manifests/24',
      'GET /token?service=stand-in&scope=repository%3Alibrary%2Fnode%3Apull',
      'HEAD /v2/library/node/manifests/24 Bearer pull',
    ])
  })

  it('is named if it does not have the tag', async () => {
    await expect(digestOf(`127.0.0.1:${port()}/library/node`, 'none')).rejects.toThrow(
      /manifests\/none answered 404/,
    )
  })
})
