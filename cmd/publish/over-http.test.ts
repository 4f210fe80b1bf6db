import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type LoneServer, serveHttpsAlone } from '../../hack/testbed/upstream/https-server.ts'
import { zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import { put } from '../import/import.fixture.ts'
import { runPublish } from './publish.fixture.ts'

/** @param body a string is the HTML page of a proxy */
type Answer = (
  status: number,
  body: object | string,
  headers?: Readonly<Record<string, string>>,
) => void

let registry: LoneServer
let dir: string
/** The answers of the registry to the list of versions, and to each publication. */
let listed: (answer: Answer) => void
let published: ((answer: Answer) => void)[]
let finished: (answer: Answer) => void
let received: string[]
/** Whether the connection ends in the middle of the next archive. */
let isCut: boolean

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'depot-publish-'))
  mkdirSync(join(dir, 'vpc'))
  writeFileSync(join(dir, 'vpc/main.tf'), 'output "a" {\n  value = 1\n}\n')
  writeFileSync(join(dir, 'token'), 'secret')
  registry = await serveHttpsAlone('registry', serve)
})
afterAll(async () => {
  await registry.close()
  rmSync(dir, { recursive: true })
})
beforeEach(() => {
  listed = (answer) => answer(200, { modules: [{ versions: [] }] })
  published = [(answer) => answer(201, { outcome: 'published' })]
  received = []
  isCut = false
})

async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { url = '', method } = incoming
  const answer: Answer = (status, body, headers = {}) => {
    const isText = typeof body === 'string'
    const type = isText ? 'text/html' : 'application/json'
    outgoing.writeHead(status, { 'content-type': type, ...headers })
    outgoing.end(isText ? body : JSON.stringify(body))
  }
  if (url.startsWith('/.well-known/')) {
    answer(200, {
      'modules.v1': '/depot/modules/v1/',
      'providers.v1': '/depot/providers/v1/',
    })
  } else if (method === 'POST') finished(answer)
  else if (method === 'PUT' && isCut) {
    isCut = false
    incoming.once('data', () => incoming.socket.destroy())
  } else if (method === 'PUT') {
    received.push((await buffer(incoming)).toString('base64'))
    published.shift()?.(answer)
  } else listed(answer)
}

const run = (...more: readonly string[]) =>
  send(['module', 'vpc', '--to', `${registry.host}/team/vpc/aws`, '--version=1.0.0', ...more])

const runProvider = async () => {
  const zip = await zipOf([{ path: 'terraform-provider-cmdb_v1.0.0', content: 'binary' }])
  put(join(dir, 'dist/terraform-provider-cmdb_1.0.0_linux_amd64.zip'), zip)
  return send(['provider', 'dist', '--to', `${registry.host}/team/cmdb`])
}

const send = (words: readonly string[]) =>
  runPublish(dir, [
    ...words,
    '--token-file',
    join(dir, 'token'),
    '--egress-ca-path',
    registry.authority.caFile,
  ])

it.each([
  ['Forbidden', 'exceeded quota', 'new platforms are not served until all of them'],
  ['VersionExists', '1.0.0 is published with other files', 'nothing was published'],
])(
  'says which platforms of a release exist if the cluster refuses the rest with %s',
  async (reason, message, text) => {
    finished = (answer) => answer(422, { errors: [message], refusals: [{ reason, message }] })
    const { status, stdout, stderr } = await runProvider()
    expect([status, stderr]).toEqual([1, `depot: ${message}\n`])
    expect(stdout).toContain(`refused: ${text}`)
  },
)

it.each(['1.3', '01.3.0', 'latest', '1.2.0-'])('sends nothing as version %s', async (version) => {
  listed = (answer) => answer(200, { modules: [{ versions: [{ version: '1.0.0' }] }] })
  const to = `${registry.host}/team/vpc/aws`
  const { status, stderr } = await send(['module', 'vpc', '--to', to, '--version', version])
  expect([status, received]).toEqual([1, []])
  expect(stderr).toBe(`depot: "${version}" is not a semantic version: write it as 1.2.0\n`)
})

it.each([
  [['--dry-run', '--no-wait'], '--dry-run and --no-wait exclude each other'],
  [['--api-group', 'acme.internal'], '--api-group needs --direct'],
])('refuses %j, which has no effect over HTTP', async (flags, message) => {
  const { status, stderr } = await run(...flags)
  expect([status, received]).toEqual([2, []])
  expect(stderr).toContain(message)
})

it('says why files of a release are missing again and again', async () => {
  const name = 'terraform-provider-cmdb_1.0.0_linux_amd64.zip'
  finished = (answer) => answer(409, { errors: ['missing'], missing: [name] })
  published = Array.from({ length: 6 }, () => (answer: Answer) => answer(201, {}))
  const { status, stderr } = await runProvider()
  expect([status, received.length]).toEqual([3, 6])
  expect(stderr).toContain('or another job with the same identity sends other files')
})

it.each([
  [401, 'not compared: you may not read it'],
  [403, 'not compared: you may not read it'],
  [404, 'not compared: it is new, or you may not read it'],
  [500, 'not compared: the registry answered 500'],
])(
  'says that it could not compare if the list of versions is answered with %d',
  async (status, text) => {
    listed = (answer) => answer(status, { errors: ['no'] })
    const { stdout } = await run('--dry-run')
    expect(stdout).toContain(`${text}\n`)
    expect(stdout).not.toContain('a new module')
    const json: unknown = JSON.parse((await run('--dry-run', '-o', 'json')).stdout)
    expect(json).toMatchObject({ uncompared: { message: text.replace('not compared: ', '') } })
    expect(json).not.toHaveProperty('newModule')
  },
)

it('sends the same again while the registry is busy', async () => {
  const busy = (answer: Answer) => answer(503, { errors: ['busy'] }, { 'retry-after': '1' })
  published.unshift(busy, busy)
  listed = (answer) => {
    listed = (later) => later(200, { modules: [{ versions: [] }] })
    busy(answer)
  }
  expect(await run()).toMatchObject({ status: 0 })
  expect(received).toHaveLength(3)
  expect(new Set(received).size).toBe(1)
})

it.each([
  ['a registry that asks for more than a minute', { 'retry-after': '61' }],
  ['a registry that does not say when', {}],
])('does not wait for %s', async (_, headers) => {
  published.unshift((answer) => answer(503, { errors: ['busy'] }, headers))
  expect(await run()).toMatchObject({ status: 3, stderr: expect.stringMatching(/busy/) as string })
  expect(received).toHaveLength(1)
})

it.each([401, 403, 404])(
  'ends at once with success if the list of versions is answered with %d',
  async (status) => {
    published = [(answer) => answer(202, { outcome: 'published', newModule: false })]
    listed = (answer) => answer(status, { errors: ['no'] })
    const ended = await run()
    expect(ended).toMatchObject({ status: 0, stderr: '' })
    expect(ended.stdout).toContain('it is published\n')
    expect(ended.stdout).toContain('does not show it to you, because you may not read it')
  },
)

it('waits for a new module that is not listed yet', async () => {
  published = [(answer) => answer(202, { outcome: 'published', newModule: true })]
  const versions = [{ version: '1.0.0' }]
  const answers = [404, 404, 200]
  listed = (answer) => answer(answers.shift() ?? 200, { modules: [{ versions }] })
  expect((await run()).stdout).toContain(`${registry.host} serves it\n`)
  expect(answers).toEqual([])
})

it('writes no control characters of a registry to the terminal', async () => {
  published = [(answer) => answer(500, { errors: ['\u001b[2Jgone'] })]
  const { status, stderr } = await run()
  expect(status).toBe(3)
  expect(stderr).toContain('gone')
  expect(stderr).not.toContain('\u001b')
})

const page = '<html><head><title>Bad Gateway</title></head><body><h1>nginx</h1></body></html>'

it.each([
  [502, 3, 'answered 502, but not as Depot does: a proxy in front of it may have'],
  [200, 3, 'answered 200, but not as Depot does: a proxy in front of it may have'],
  [
    413,
    1,
    'answered 413, but not as Depot does: a proxy in front of it may have; ask for a higher limit',
  ],
  [403, 1, 'answered 403, but not as Depot does: a proxy in front of it may have'],
])('says that a proxy answered if it gets an HTML page with %d', async (status, expected, text) => {
  published = [(answer) => answer(status, page)]
  const ended = await run()
  expect(ended).toMatchObject({
    status: expected,
    stderr: expect.stringContaining(text) as unknown,
  })
  expect(ended.stderr).not.toContain('nginx')
  expect(ended.stdout).not.toContain('it is published')
})

it('exits with 3 if the connection ends during an upload, and sends everything the next time', async () => {
  isCut = true
  const cut = await run()
  expect(cut).toMatchObject({ status: 3, stdout: expect.not.stringContaining('it is published') })
  expect(cut.stderr).toContain('run the same command again')
  expect(await run()).toMatchObject({ status: 0 })
  expect(received).toHaveLength(1)
})
