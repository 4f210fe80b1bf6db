import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server as TokenServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { tarGzOf } from '../pkg/archives/archive/packed.fixture.ts'
import { githubClaims, gitlabClaims, TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { ControlledCluster } from './sync/controlled-cluster.fixture.ts'

/* CI jobs publish with their own identity to a server and a controller. */

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
  return { status: answer.status, text: await answer.text() }
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
    const published = { ref: 'refs/tags/v1.0.0', issuer: expect.any(String), ...origin }
    await vi.waitFor(() => {
      const line = controller.log.findLast((one) => one.includes('"msg":"archive published"'))
      expect(JSON.parse(line ?? '{}')).toMatchObject({ name, ...published })
    })
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

describe('the example of a job', () => {
  const cwd = join(registry.dir, 'module')
  const examples = join(import.meta.dirname, '../docs/examples/ci')
  const yamlOf = (file: string) => parse(readFileSync(join(examples, file), 'utf8')) as never
  let tokens: TokenServer
  let requests = 0
  let lifeSeconds = 300
  beforeAll(async () => {
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'main.tf'), 'output "a" {\n  value = "example"\n}\n')
    const services = `{\n    "modules.v1" = "${server.url}/depot/modules/v1/"\n  }`
    const config = `host "depot.example.com" {\n  services = ${services}\n}\n`
    writeFileSync(join(registry.dir, 'cli.tfrc'), config)
    tokens = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://localhost')
      if (request.headers.authorization !== 'Bearer of the job') {
        response.writeHead(401).end('{}')
        return
      }
      requests += 1
      const exp = Math.floor(Date.now() / 1000) + lifeSeconds
      void fromGithub({ aud: url.searchParams.get('audience'), exp }).then((value) =>
        response.end(JSON.stringify({ value })),
      )
    })
    await once(tokens.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => void tokens?.close())

  /** Runs a script as the host of a job does. */
  async function run(script: string, env: Record<string, string>) {
    const PATH = `${join(import.meta.dirname, '..')}:${process.env['PATH']}`
    const TF_CLI_CONFIG_FILE = join(registry.dir, 'cli.tfrc')
    const job = execFile('bash', ['-eo', 'pipefail', '-c', script], {
      cwd,
      env: { ...process.env, HOME: registry.dir, PATH, TF_CLI_CONFIG_FILE, ...env },
    })
    const [stdout, stderr, [status]] = await Promise.all([
      text(job.stdout ?? Readable.from([])),
      text(job.stderr ?? Readable.from([])),
      once(job, 'close') as Promise<[number]>,
    ])
    return { status, stdout, stderr }
  }
  const jobOf = (secret: string) => ({
    GITHUB_ACTIONS: 'true',
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret,
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token?api-version=2.0`,
  })

  /** Replaces expressions as GitHub does. */
  function stepOf(given: Record<string, string>) {
    const { inputs, runs }: Action = yamlOf('action.yml')
    const [step] = runs.steps
    const fill = (expression: string): string =>
      expression
        .replaceAll(/\$\{\{ inputs\.(\w+) \}\}/g, (_, name: string) =>
          fill(given[name] ?? inputs[name]?.default ?? ''),
        )
        .replaceAll('${{ github.ref_name }}', 'v2.0.0')
    const env = Object.entries(step.env).map(([name, value]) => [name, fill(value)] as const)
    return { script: step.run, env: Object.fromEntries(env) }
  }
  interface Action {
    readonly inputs: Record<string, { readonly default?: string }>
    readonly runs: {
      readonly steps: [{ readonly run: string; readonly env: Record<string, string> }]
    }
  }
  interface Workflow {
    readonly jobs: {
      readonly publish: { readonly steps: { readonly uses?: string; readonly with?: never }[] }
    }
  }

  it('publishes in GitHub Actions, and says with which identity', async () => {
    const { jobs }: Workflow = yamlOf('github-workflow.yml')
    const { with: given } = jobs.publish.steps.at(-1) ?? {}
    const { script, env } = stepOf({ ...(given as never as object), folder: '.' })
    const { status, stdout, stderr } = await run(script, { ...env, ...jobOf('of the job') })
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('job of GitHub Actions: repo:acme/vpc:ref:refs/tags/v1.0.0'),
    })
    expect(stdout).toContain('2.0.0')
  })

  it('fails in GitHub Actions for another audience, and without a token', async () => {
    const address = 'depot.example.com/team/vpc/aws'
    const other = stepOf({ address, version: '2.0.1', audience: 'https://other.example.com' })
    const refused = await run(other.script, { ...other.env, ...jobOf('of the job') })
    expect(refused).toMatchObject({ status: 1 })
    expect(refused.stderr).toContain('claim aud is "https://other.example.com"')
    const own = stepOf({ address, version: '2.0.1' })
    const absent = await run(own.script, { ...own.env, ...jobOf('of another job') })
    expect(absent).toMatchObject({ status: 3 })
    expect(absent.stderr).toContain('gives this job no token')
  })

  it('requests another token before the one of the job expires, and says which job was refused', async () => {
    const { script, env } = stepOf({ address: 'depot.example.com/team/vpc/aws', version: '2.1.0' })
    const before = requests
    lifeSeconds = 45
    expect(await run(script, { ...env, ...jobOf('of the job') })).toMatchObject({ status: 0 })
    // One for the previous version, and one for each request.
    expect(requests - before).toBeGreaterThan(2)
    lifeSeconds = -60
    const late = stepOf({ address: 'depot.example.com/team/vpc/aws', version: '2.1.1' })
    const refused = await run(late.script, { ...late.env, ...jobOf('of the job') })
    lifeSeconds = 300
    expect(refused).toMatchObject({ status: 1 })
    expect(refused.stderr).toContain('this job of GitHub Actions sent a token for the audience')
    expect(refused.stderr).not.toContain('terraform login')
  })

  it('publishes in GitLab', async () => {
    interface Job {
      readonly script: readonly string[]
      readonly id_tokens: { readonly DEPOT_ID_TOKEN: { readonly aud: string } }
    }
    const { publish }: { readonly publish: Job } = yamlOf('gitlab-ci.yml')
    const { aud } = publish.id_tokens.DEPOT_ID_TOKEN
    const { status, stderr } = await run(publish.script.join('\n'), {
      GITLAB_CI: 'true',
      CI_COMMIT_TAG: 'v2.0.0',
      DEPOT_ID_TOKEN: await fromGitlab({ aud }),
    })
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('job of GitLab: project_path:acme/dns'),
    })
  })

  it('publishes with curl, and fails for a job without the right', async () => {
    const url = `${server.url}/depot/publish/v1/modules/team`
    const script = (name: string) => `${examples}/publish.sh ${url}/${name}/aws . v3.0.0`
    const DEPOT_ID_TOKEN = await fromGithub()
    expect(await run(script('vpc'), { DEPOT_ID_TOKEN })).toMatchObject({ status: 0 })
    const refused = await run(script('dns'), { DEPOT_ID_TOKEN })
    expect(refused.status).not.toBe(0)
    expect(refused.stdout).toContain('publishModules')
  })

  it('prefers a token that a person provides', async () => {
    writeFileSync(join(registry.dir, 'token'), await people.sign())
    const command = 'depot publish module . --to depot.example.com/team/vpc/aws --version 4.0.0'
    const script = `${command} --token-file ../token`
    const refused = await run(script, jobOf('of the job'))
    expect(refused).toMatchObject({ status: 1 })
    expect(refused.stderr).not.toContain('GitHub Actions')
  })
})
