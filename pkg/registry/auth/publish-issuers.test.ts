import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { CompactSign, exportSPKI, importJWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics, type RequestFacts } from '../../base/telemetry/telemetry.ts'
import { GroupBindings } from '../access/access.ts'
import { Auth, type AuthOptions, type PublishIssuer } from './auth.ts'
import { githubClaims, gitlabClaims, issuerKey, oidcOptions, TestIssuer } from './issuer.fixture.ts'
import { groupsOf } from './publish-issuers.ts'

const audience = 'https://depot.example.com'
const [people, github, gitlab] = await Promise.all([
  TestIssuer.start(),
  TestIssuer.start(),
  TestIssuer.start(),
])
const opened: Auth[] = []
afterAll(async () => {
  for (const auth of opened) await auth.close()
  for (const issuer of [people, github, gitlab]) issuer.stop()
})

/** A file of issuers that changes when a test says so. */
function fileOf(current: readonly PublishIssuer[]) {
  const listeners = new Set<() => void>()
  return {
    current,
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    change(entries: readonly PublishIssuer[]) {
      this.current = entries
      for (const listener of listeners) listener()
    },
    close: async () => undefined,
  }
}

const gha = {
  alias: 'gha',
  issuer: github.url,
  audience,
  claims: ['repository', 'repository_id', 'ref', 'event_name', 'sub'],
}
const both = [
  gha,
  { alias: 'gitlab', issuer: gitlab.url, audience, claims: ['project_id', 'groups_direct'] },
]

/** @param expression of the only binding, whose members publish everything in the namespace `team` */
function open(
  expression: string,
  {
    file = fileOf(both),
    ...options
  }: Partial<AuthOptions> & { file?: ReturnType<typeof fileOf> } = {},
  bindings = new GroupBindings({
    namespace: 'depot-system',
    log: createLogger('silent'),
    metrics: createMetrics({ version: 'test' }),
  }),
): Auth {
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'test' })
  const binding = parseResource('GroupBinding', {
    metadata: { name: 'ci', namespace: 'depot-system' },
    spec: { expression, publishNamespaces: ['team'], publishModules: ['*'] },
  })
  if (!binding.ok) throw new Error('the binding is not valid')
  bindings.apply({ type: 'upsert', resource: binding.resource })
  const auth = new Auth({
    mode: 'oidc',
    oidc: oidcOptions(people.url),
    publishIssuers: { file, timings: { firstRetryMs: 5, maxRetryMs: 5 } },
    bindings,
    isPublic: () => false,
    log,
    metrics,
    ...options,
  })
  opened.push(auth)
  return auth
}

async function ask(auth: Auth, token: string): Promise<unknown> {
  const request = { authorization: `Bearer ${token}` }
  return auth.publishers
    .publisherOf(request, ['Module', 'team', 'vpc'])
    .catch((thrown: unknown) => thrown)
}

const refusal = (reason: string, message: RegExp) =>
  expect.objectContaining({ reason, message: expect.stringMatching(message) as string })

async function ready(auth: Auth): Promise<Auth> {
  await vi.waitUntil(() => auth.impaired().length === 0, { interval: 1 })
  return auth
}

describe('a job with a token of a publish issuer', () => {
  it('publishes as its binding says, and nowhere else', async () => {
    const auth = await ready(open('"gha:repository_id:74" in groups'))
    const token = await github.sign(githubClaims())
    expect(await ask(auth, token)).toEqual({
      by: 'repo:acme/vpc:ref:refs/tags/v1.0.0',
      issuer: github.url,
      repository: 'acme/vpc',
      ref: 'refs/tags/v1.0.0',
      commit: 'b'.repeat(40),
      runUrl: `https://${new URL(github.url).host}/acme/vpc/actions/runs/4242`,
    })
    const request = { authorization: `Bearer ${token}` }
    expect(await auth.publishers.publisherOf(request, ['Module', 'other', 'vpc'])).toBeUndefined()
  })

  it('is one of GitLab, too, whose list of groups are several groups', async () => {
    const auth = await ready(open('"gitlab:groups_direct:acme/network" in groups'))
    expect(await ask(auth, await gitlab.sign(gitlabClaims()))).toMatchObject({
      repository: 'acme/dns',
      ref: 'refs/tags/v1.0.0',
    })
  })

  it('publishes where the cluster decides about everybody else', async () => {
    const address = async () => Promise.reject(new Error('nobody asks the cluster'))
    const cluster = { apiGroup: 'depot.internal', ttlMs: 0, address }
    const auth = await ready(
      open('"gha:repository_id:74" in groups', { mode: 'bearer', oidc: undefined, cluster }),
    )
    expect(await ask(auth, await github.sign(githubClaims()))).toMatchObject({
      repository: 'acme/vpc',
    })
  })

  it('is kept in a status whatever the length of its subject', async () => {
    const auth = await ready(open('"gha:repository_id:74" in groups'))
    const sub = `repo:acme/vpc:${'a'.repeat(2000)}\n`
    expect(await ask(auth, await github.sign(githubClaims({ sub })))).toMatchObject({
      by: expect.stringMatching(/^repo:acme\/vpc:a{400,500}…$/) as string,
    })
  })

  it('stays unknown while its issuer is unreachable, and nobody else does', async () => {
    github.unreachable = true
    let lines = ''
    const log = createLogger('info', { write: (line) => void (lines += line) })
    const auth = open(
      'any(groups, # in ["platform", "gha:repository_id:74", "gitlab:project_id:22"])',
      { log },
    )
    await auth.started
    const answer = await ask(auth, await github.sign(githubClaims()))
    expect(answer).toEqual(refusal('Unavailable', /publish issuer gha/))
    expect(answer).toHaveProperty('headers.Retry-After', expect.stringMatching(/^\d+$/))
    expect(await ask(auth, await people.sign())).toMatchObject({ by: 'alice', issuer: people.url })
    expect(await ask(auth, await gitlab.sign(gitlabClaims()))).toMatchObject({
      repository: 'acme/dns',
    })
    expect(auth.waitingFor()).toEqual([])
    expect(auth.impaired()).toEqual([expect.stringContaining('publish issuer gha')])
    expect(lines).toContain('keys of the publish issuer gha cannot be fetched')
    github.unreachable = false
    await ready(auth)
    expect(lines).toContain('keys of the publish issuer gha fetched')
    expect(lines).not.toContain('the OIDC issuer')
    expect(await ask(auth, await github.sign(githubClaims()))).toMatchObject({
      repository: 'acme/vpc',
    })
  })

  it('loses its groups when the file changes', async () => {
    const file = fileOf(both)
    const auth = await ready(open('"gha:repository_id:74" in groups', { file }))
    const token = await github.sign(githubClaims())
    expect(await ask(auth, token)).toMatchObject({ repository: 'acme/vpc' })
    file.change([{ ...gha, claims: ['ref'] }])
    expect(await ask(auth, token)).toBeUndefined()
    file.change([{ ...gha, audience: 'another' }])
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /audience/))
    file.change([])
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /--publish-issuers/))
  })
})

describe('a binding that is true without groups', () => {
  const stranger = () => github.sign(githubClaims({ repository: 'evil/x', repository_id: '6' }))

  it.each(['true', 'not ("contractors" in groups)', 'groups[0] != "contractors"'])(
    'does not count for jobs, and the log says so once: %s',
    async (expression) => {
      let lines = ''
      const log = createLogger('warn', { write: (line) => void (lines += line) })
      const metrics = createMetrics({ version: 'test' })
      const bindings = new GroupBindings({ namespace: 'depot-system', log, metrics })
      const auth = await ready(open(expression, {}, bindings))
      expect(await ask(auth, await people.sign())).toMatchObject({ by: 'alice' })
      expect(lines).toBe('')
      for (const id of ['6', '7']) {
        const token = await github.sign(githubClaims({ repository_id: id }))
        expect(await ask(auth, token)).toBeUndefined()
        expect(await auth.whoAmI({ authorization: `Bearer ${token}` })).toMatchObject({
          access: expect.stringMatching(/no GroupBinding/) as string,
        })
      }
      expect(lines.trim().split('\n')).toEqual([
        expect.stringMatching(/"name":"ci".*GroupBinding does not count for jobs/),
      ])
    },
  )

  it('denies as before if it does not compile', async () => {
    const auth = await ready(open('nope'))
    expect(await ask(auth, await stranger())).toEqual(
      refusal('Forbidden', /could not be evaluated/),
    )
  })

  it('makes no consumer of public modules of a stranger', async () => {
    const auth = await ready(open('"gha:repository_id:74" in groups', { isPublic: () => true }))
    const consumers = [await stranger(), await github.sign(githubClaims())].map(async (token) => {
      const facts: RequestFacts = {}
      const request = { authorization: `Bearer ${token}`, facts }
      expect(await auth.mayRead(request, 'Module', 'team', 'vpc')).toBe(true)
      return facts.consumer?.()
    })
    expect(await Promise.all(consumers)).toEqual([undefined, 'repository:gha:acme/vpc'])
  })
})

describe('a forged token is refused', () => {
  let auth: Auth
  beforeAll(async () => {
    auth = await ready(open('"gha:repository_id:74" in groups'))
  })
  const now = Math.floor(Date.now() / 1000)
  const claims = (more: object = {}) =>
    githubClaims({ iss: github.url, iat: now, exp: now + 3600, ...more })

  it.each([
    ['for another audience', { aud: 'https://other.example.com' }, /claim aud is "https:\/\/other/],
    ['for several others', { aud: ['https://a.example.com', `${audience}/`] }, /claim aud/],
    ['for no audience', { aud: undefined }, /claim aud is nothing/],
    ['that has expired, however often it is sent', { exp: now - 60 }, /expired \d+ s ago/],
    ['that never expires', { exp: undefined }, /claim exp/],
    ['that is not valid yet', { nbf: now + 600 }, /not valid yet/],
    ['without a subject', { sub: '' }, /claim sub/],
  ])('%s', async (_, more, message) => {
    const token = await github.sign(claims(more))
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', message))
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', message))
  })

  it('signed by another issuer', async () => {
    const token = await github.sign(claims(), { key: gitlab.key })
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /signature|key/))
    const renamed = await github.sign(claims(), { key: await issuerKey(github.key.kid) })
    expect(await ask(auth, renamed)).toEqual(refusal('Unauthenticated', /signature/))
  })

  it('with other claims than those that were signed', async () => {
    const [head, , signature] = (await github.sign(claims({ repository_id: '99' }))).split('.')
    const other = Buffer.from(JSON.stringify(claims())).toString('base64url')
    const token = `${head}.${other}.${signature}`
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /signature/))
  })

  it('signed by the key in its own header, or where that says', async () => {
    const fetchedBefore = gitlab.keyFetches
    const key = await issuerKey(github.key.kid)
    const header = { jwk: key.jwk, jku: `${gitlab.url}/keys`, x5u: `${gitlab.url}/keys` }
    const token = await github.sign(claims(), { key, header })
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /signature/))
    const unknown = await github.sign(claims(), { key: { ...key, kid: 'own' }, header })
    expect(await ask(auth, unknown)).toEqual(refusal('Unavailable', /a key that is not known/))
    expect(gitlab.keyFetches).toBe(fetchedBefore)
  })

  it('with a header that has to be understood', async () => {
    const { kid, privateKey } = github.key
    const sign = (header: object) =>
      new CompactSign(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT', ...header })
        .sign(privateKey, { crit: { 'only-at': true } })
    expect(await ask(auth, await sign({}))).toMatchObject({ repository: 'acme/vpc' })
    const token = await sign({ crit: ['only-at'], 'only-at': 'elsewhere' })
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /signature/))
  })

  it('by an issuer that is not configured', async () => {
    const token = await github.sign(claims({ iss: 'https://token.actions.githubusercontent.com' }))
    expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /--publish-issuers/))
  })

  it('without a signature, or with one by the public key as a secret', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const unsigned = `${part({ alg: 'none', typ: 'JWT' })}.${part(claims())}.`
    expect(await ask(auth, unsigned)).toEqual(refusal('Unauthenticated', /not a signed JWT/))
    const dotted = `${part({ alg: 'none', typ: 'JWT' })}.${part(claims())}.AA`
    expect(await ask(auth, dotted)).toEqual(refusal('Unauthenticated', /alg "none"/))
    const { jwk, kid } = github.key
    const pem = await exportSPKI((await importJWK(jwk)) as Parameters<typeof exportSPKI>[0])
    for (const secret of [pem, JSON.stringify(jwk), String(jwk.n)]) {
      const token = await new CompactSign(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: 'HS256', kid, typ: 'JWT' })
        .sign(Buffer.from(secret))
      expect(await ask(auth, token)).toEqual(refusal('Unauthenticated', /alg "HS256"/))
    }
  })

  it('once it has expired, although it was accepted before', async () => {
    let nowMs = Date.now()
    const timed = await ready(open('"gha:repository_id:74" in groups', { clock: () => nowMs }))
    const token = await github.sign(githubClaims({ exp: now + 300 }))
    expect(await ask(timed, token)).toMatchObject({ repository: 'acme/vpc' })
    nowMs += 400_000
    expect(await ask(timed, token)).toEqual(refusal('Unauthenticated', /expired/))
  })

  it('without groups, if its claims are names of a prototype', async () => {
    const file = fileOf([{ ...gha, claims: ['constructor', '__proto__', 'toString'] }])
    const odd = await ready(open('len(groups) > 0', { file }))
    expect(await ask(odd, await github.sign(githubClaims()))).toBeUndefined()
  })
})

it('publishes by the example of the documentation, and by nothing less', async () => {
  const page = readFileSync('docs/authentication.md', 'utf8')
  const [, text = ''] = /```yaml issuers\n(.*?)```/s.exec(page) ?? []
  const [documented] = parse(text) as readonly PublishIssuer[]
  if (documented === undefined) throw new Error('the page has no issuer')
  const [, expression = ''] = /expression: >-\n(.*?)\n {2}\w/s.exec(page) ?? []
  const auth = await ready(
    open(expression, { file: fileOf([{ ...documented, issuer: github.url }]) }),
  )
  expect(await ask(auth, await github.sign(githubClaims()))).toMatchObject({
    repository: 'acme/vpc',
  })
  for (const claims of [
    { event_name: 'pull_request' },
    { ref: 'refs/heads/v1' },
    { repository_id: '7' },
  ]) {
    expect(await ask(auth, await github.sign(githubClaims(claims)))).toBeUndefined()
  }
})

describe('a job that looks like the right one', () => {
  const byId =
    '"gha:repository_id:74" in groups and "gha:event_name:push" in groups and any(groups, # startsWith "gha:ref:refs/tags/")'

  it.each([
    ['pushes a tag', {}, true],
    ['is of a repository that took the name of a renamed one', { repository_id: '99' }, false],
    [
      'is of a pull request from a fork',
      { event_name: 'pull_request', ref: 'refs/pull/7/merge', sub: 'repo:acme/vpc:pull_request' },
      false,
    ],
    ['has a wildcard as its id', { repository_id: '*' }, false],
    ['has several ids in one', { repository_id: '74,75' }, false],
    ['has a blank after its id', { repository_id: '74 ' }, false],
    ['has a zero before its id', { repository_id: '074' }, false],
    ['has an id that looks the same', { repository_id: '7\uff14\u200b' }, false],
    [
      'has the group of another claim as its ref',
      { repository_id: '1', ref: 'gha:repository_id:74' },
      false,
    ],
    ['runs for a branch', { ref: 'refs/heads/main' }, false],
  ])('%s', async (_, claims, may) => {
    const auth = await ready(open(byId))
    const answer = await ask(auth, await github.sign(githubClaims(claims)))
    expect(answer !== undefined && !(answer instanceof Error)).toBe(may)
  })
})

it('takes the claims of GitHub from no other issuer, even a trusted one with the same claims', async () => {
  const file = fileOf([gha, { ...gha, alias: 'gitlab', issuer: gitlab.url }])
  const auth = await ready(open('"gha:repository_id:74" in groups', { file }))
  const claims = (iss: string) => githubClaims({ iss })
  expect(await ask(auth, await github.sign(claims(github.url)))).toMatchObject({
    repository: 'acme/vpc',
  })
  expect(await ask(auth, await gitlab.sign(claims(gitlab.url)))).toBeUndefined()
  expect(await ask(auth, await gitlab.sign(claims(github.url)))).toEqual(
    refusal('Unauthenticated', /signature|key/),
  )
})

it('lets a person in while too many tokens of another issuer are verified', async () => {
  const auth = await ready(open('true'))
  const [head, , signature] = (await gitlab.sign()).split('.')
  const forged = Array.from({ length: 1001 }, (_, index) => {
    const claims = JSON.stringify({ iss: gitlab.url, sub: String(index) })
    return [head, Buffer.from(claims).toString('base64url'), signature].join('.')
  })
  const authorization = `Bearer ${await people.sign()}`
  const asked = forged.map((token) => ask(auth, token))
  expect(await auth.whoAmI({ authorization })).toMatchObject({ groups: ['platform'] })
  expect((await Promise.all(asked)).at(-1)).toEqual(refusal('Unavailable', /too many new tokens/))
})

it('gives people no group of a publish issuer, or of a program', async () => {
  const auth = await ready(open('true'))
  const groups = [
    'gha:repository_id:74',
    'gitlab:project_id:22',
    'client:ci',
    'gha',
    'ghas:a',
    'platform',
  ]
  const authorization = `Bearer ${await people.sign({ groups })}`
  expect(await auth.whoAmI({ authorization })).toMatchObject({
    groups: ['gha', 'ghas:a', 'platform'],
  })
})

it('gives no group of another alias or claim, whatever a claim says', () => {
  const value = fc.jsonValue({ maxDepth: 2 })
  const name = fc.stringMatching(/^[a-z_]{1,8}$/)
  fc.assert(
    fc.property(fc.dictionary(name, value), fc.array(name, { maxLength: 4 }), (payload, claims) => {
      const alias = 'gha'
      const groups = groupsOf(payload, { alias, claims })
      for (const group of groups) {
        const [ofAlias, claim = '', ...rest] = group.split(':')
        expect(ofAlias).toBe(alias)
        expect(claims).toContain(claim)
        const found = payload[claim]
        expect([found].flat().map(String)).toContain(rest.join(':'))
      }
    }),
  )
  const of = (id: string) => groupsOf({ id }, { alias: 'a', claims: ['id'] })
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(text, text, (one, other) => (one === other) === (of(one)[0] === of(other)[0])),
  )
})

it.each([
  ['text', 'a', ['a']],
  ['an empty text', '', ['']],
  ['a number', 74, ['74']],
  ['a number that is not exact', 2 ** 53, []],
  ['a fraction', 1.5, []],
  ['a boolean', false, ['false']],
  ['a list', ['a', 'b:c', '*'], ['a', 'b:c', '*']],
  ['a list of other things', ['a', 1], []],
  ['an object', { a: 'b' }, []],
  ['null', null, []],
  ['nothing', undefined, []],
])('makes groups of %s', (_, id, values) => {
  const groups = groupsOf({ id }, { alias: 'gha', claims: ['id'] })
  expect(groups).toEqual(values.map((value) => `gha:id:${value}`))
})
