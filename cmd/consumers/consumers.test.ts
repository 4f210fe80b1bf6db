import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { type LoneServer, serveAppAlone } from '../../hack/testbed/upstream/https-server.ts'
import type { Auth } from '../../pkg/registry/auth/auth.ts'
import { oidcOptions, TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'
import { AccessFixture } from '../../pkg/registry/server/access.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-consumers-'))
const fixture = new AccessFixture()
let issuer: TestIssuer
let auth: Auth
let server: LoneServer

const many = Array.from({ length: 120 }, (_, index) => ({
  consumer: `group:team-${String(index).padStart(3, '0')}`,
  version: '2.0.0',
  day: 20_784,
  days: 1,
}))
const uses = [
  { consumer: 'group:a,"b"', version: '1.0.0', day: 20_783, days: 3 },
  { consumer: '=cmd()', version: '2.0.0', day: 20_784, days: 1 },
  ...many,
]

beforeAll(async () => {
  issuer = await TestIssuer.start()
  fixture.module('vpc')
  for (const version of ['1.0.0', '2.0.0']) fixture.version('Module', 'vpc', version)
  fixture.bind('writers', {
    expression: '"writers" in groups',
    moduleResources: ['*'],
    publishNamespaces: ['platform'],
    publishModules: ['vpc'],
  })
  fixture.bind('z-readers', { expression: 'true', moduleResources: ['*'] })
  auth = fixture.auth({ mode: 'oidc', oidc: oidcOptions(issuer.url) })
  await auth.started
  const app = fixture.app({ auth, consumers: async () => uses })
  server = await serveAppAlone('localhost', (url, authorization) =>
    app.request(url, { headers: authorization ? { authorization } : {} }),
  )
  mkdirSync(join(dir, 'home'))
})
afterAll(async () => {
  await server?.close()
  await auth?.close()
  issuer?.stop()
  fixture[Symbol.dispose]()
  rmSync(dir, { recursive: true })
})

async function consumers(groups: readonly string[], ...args: readonly string[]) {
  const token = await issuer.sign({ groups })
  const trust = ['--egress-ca-path', server.authority.caFile]
  const env = { HOME: join(dir, 'home'), [`TF_TOKEN_${server.host}`]: token }
  return runProgram(dir, ['consumers', `${server.host}/platform/vpc/aws`, ...args, ...trust], env)
}

it('prints every consumer, or those on old versions, as text and CSV', async () => {
  const all = await consumers(['writers'], '-o', 'csv')
  expect(all).toMatchObject({ status: 0, stderr: '' })
  const lines = all.stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(1 + uses.length)
  expect(lines.slice(0, 3)).toEqual([
    'consumer,version,last_used,days,behind,state,critical',
    '"group:a,""b""",1.0.0,2026-11-26,3,1,,0',
    "'=cmd(),2.0.0,2026-11-27,1,0,,0",
  ])
  const behind = await consumers(['writers'], '--outdated')
  expect(behind.stdout).toBe('group:a,"b": 1.0.0; 1 behind, last used on 2026-11-26\n')
  const json = await consumers(['writers'], '--outdated', '-o', 'json')
  expect(JSON.parse(json.stdout)).toMatchObject([{ consumer: 'group:a,"b"', behind: 1 }])
})

it('tells callers without the right how to get it', async () => {
  const refused = await consumers(['readers'])
  expect(refused).toMatchObject({ status: 2, stdout: '' })
  expect(refused.stderr).toMatch(/only those who may publish platform\/vpc .* publishNamespaces/)
  const wrong = await consumers(['writers'], 'more')
  expect(wrong.stderr).toContain('write one HOST/NAMESPACE/NAME/SYSTEM')
})
