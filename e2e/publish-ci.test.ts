import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { tarGzOf } from '../pkg/archives/archive/packed.fixture.ts'
import { githubClaims, gitlabClaims, TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { ControlledCluster } from './sync/controlled-cluster.fixture.ts'

/* Jobs of CI publish with their own identity over a server and a controller. */

const registry = new Registry()
let cluster: ControlledCluster
let people: TestIssuer
let github: TestIssuer
let gitlab: TestIssuer
let controller: Server
let server: Server

beforeAll(async () => {
  cluster = await ControlledCluster.start('team')
  cluster.archives = registry.archives
  ;[people, github, gitlab] = await Promise.all([
    TestIssuer.start(),
    TestIssuer.start(),
    TestIssuer.start(),
  ])
  const audience = 'https://depot.example.com'
  const claims = ['repository', 'repository_id', 'ref', 'event_name']
  const file = join(registry.dir, 'issuers.yaml')
  writeFileSync(
    file,
    JSON.stringify([
      { alias: 'gha', issuer: github.url, audience, claims },
      { alias: 'gitlab', issuer: gitlab.url, audience, claims: ['project_id', 'ref_type'] },
    ]),
  )
  const callers = ['--oidc-issuer-url', people.url, '--oidc-client-id', 'depot']
  const issuers = ['--publish-issuers', file]
  controller = await cluster.startController('--listen', '127.0.0.1:0', ...callers, ...issuers)
  const expressions = {
    github: '"gha:repository_id:74" in groups and not ("gha:event_name:pull_request" in groups)',
    gitlab: '"gitlab:project_id:22" in groups and "gitlab:ref_type:tag" in groups',
  }
  for (const [name, expression] of Object.entries(expressions)) {
    await cluster.apply('GroupBinding', 'depot-system', name, {
      spec: {
        expression,
        moduleResources: ['*'],
        publishNamespaces: ['team'],
        publishModules: [name === 'github' ? 'vpc' : 'dns'],
      },
    })
  }
  for (const name of ['vpc', 'dns']) {
    const storageConfig = { fileSystem: { directoryPath: 'team' } }
    await cluster.apply('Module', 'team', name, {
      spec: { moduleConfig: { name, provider: 'aws', storageConfig } },
    })
  }
  const kubeconfig = ['--kubeconfig', cluster.plane.kubeconfigFile]
  server = await startAs(
    registry,
    ...kubeconfig,
    ...callers,
    ...issuers,
    '--sync-url',
    controller.url,
  )
  await vi.waitUntil(async () => (await put('none/none/aws/1.0.0', 'none')).status !== 503)
})
afterAll(async () => {
  await server?.stop()
  await controller?.stop()
  await cluster?.stop()
  for (const issuer of [people, github, gitlab]) issuer?.stop()
  registry.remove()
})

async function put(path: string, token: string) {
  const body = await tarGzOf([
    { path: 'main.tf', content: `output "a" {\n  value = "${path}"\n}\n` },
  ])
  const answer = await fetch(`${server.url}/depot/publish/v1/modules/${path}`, {
    method: 'PUT',
    body,
    headers: {
      authorization: `Bearer ${token}`,
      'x-depot-sha256': createHash('sha256').update(body).digest('hex'),
      'content-type': 'application/gzip',
    },
  })
  const text = await answer.text()
  return { status: answer.status, text }
}

const fromGithub = (claims: object = {}) => github.sign(githubClaims({ ...claims }))
const fromGitlab = (claims: object = {}) => gitlab.sign(gitlabClaims({ ...claims }))

describe('a job publishes without a stored secret', () => {
  it.each([
    ['GitHub Actions', 'vpc', fromGithub, { repository: 'acme/vpc', commit: 'b'.repeat(40) }],
    ['GitLab', 'dns', fromGitlab, { repository: 'acme/dns', commit: 'c'.repeat(40) }],
  ])('of %s', async (_, name, token, origin) => {
    const answer = await put(`team/${name}/aws/1.0.0`, await token())
    expect(answer).toMatchObject({ status: 201 })
    const line = controller.log.findLast((one) => one.includes('"msg":"archive published"'))
    const published = { ref: 'refs/tags/v1.0.0', issuer: expect.any(String), ...origin }
    expect(JSON.parse(line ?? '')).toMatchObject({ name, ...published })
    await vi.waitFor(async () => {
      const versions = await cluster.list('Version', 'team')
      expect(versions.map(({ status }) => status?.['published'])).toContainEqual(
        expect.objectContaining({ at: expect.any(String), by: expect.any(String), ...published }),
      )
    }, 30_000)
  })

  it('which sees what its binding shows', async () => {
    const headers = { authorization: `Bearer ${await fromGithub()}` }
    const versions = await fetch(`${server.url}/depot/modules/v1/team/vpc/aws/versions`, {
      headers,
    })
    expect(versions.status).toBe(200)
  })
})
