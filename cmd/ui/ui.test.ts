import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { dataOf, writeBarePages } from '../../hack/testbed/explorer/pages.ts'
import { runProgram } from '../../hack/testbed/program/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-ui-'))
const dist = writeBarePages(join(folder, 'pages'))
afterAll(() => rmSync(folder, { recursive: true }))

const password = 'p'.repeat(32)
const oidc = [
  '--oidc-issuer-url=https://login.example.com',
  '--oidc-client-id=depot-ui',
  '--base-url=https://registry.example.com',
]

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** Starts the explorer, and waits until it exits. */
async function endOf(flags: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stderr } = await runProgram(folder, ['ui', ...flags], env)
  return { code: status, errors: stderr }
}

it.each([
  [
    'a session password of 31 characters',
    ['--dev-token-input'],
    { DEPOT_SESSION_PASSWORD: 'p'.repeat(31) },
    '--session-password-path (or DEPOT_SESSION_PASSWORD): line 1 has 31 characters',
  ],
  [
    'a short password after a long one',
    ['--dev-token-input'],
    { DEPOT_SESSION_PASSWORD: `${password}\nshort` },
    'line 2 has 5 characters',
  ],
  ['a developer token without one', ['--dev-token-input'], {}, '--dev-token-input needs --session'],
  ['a login without one', oidc, {}, '--oidc-issuer-url needs --session-password-path'],
  [
    'two base URLs',
    [],
    { NEXT_PUBLIC_BASE_URL: 'https://a.example', DEPOT_BASE_URL: 'https://b.example' },
    'DEPOT_BASE_URL and NEXT_PUBLIC_BASE_URL differ',
  ],
  ['a base URL with a path', ['--base-url=https://a.example/x'], {}, 'has a path'],
  ['an issuer without a client', oidc.slice(0, 1), {}, 'needs --oidc-client-id'],
  ['a login without a base URL', oidc.slice(0, 2), {}, 'needs --base-url'],
  ['an issuer over http', ['--oidc-issuer-url=http://login.example.com'], {}, 'without encryption'],
  ['a callback path of the server', ['--oidc-callback-path=/depot/x'], {}, 'keep out of /depot'],
  [
    'a callback path of the login',
    ['--oidc-callback-path=/auth/login'],
    {},
    'belongs to something',
  ],
  ['scopes without openid', ['--oidc-scopes=profile'], {}, 'lacks openid'],
  ['a folder without built pages', [`--dist-path=${folder}`], {}, 'run `make ui`'],
  ['a password as a flag', ['--session-password=x'], {}, 'DEPOT_SESSION_PASSWORD_FILE'],
])('%s makes it exit with 2 and name the option', async (_what, flags, env, message) => {
  const { code, errors } = await endOf(
    flags.some((flag) => flag.startsWith('--dist-path'))
      ? flags
      : [`--dist-path=${dist}`, ...flags],
    env,
  )
  expect(errors).toContain(message)
  expect(code).toBe(2)
})

it('takes its base URL from NEXT_PUBLIC_BASE_URL when it starts, without a build', async () => {
  for (const baseUrl of ['https://one.example', 'https://two.example:8443']) {
    const explorer = await startExplorer({
      serverUrl: 'http://127.0.0.1:9',
      flags: ['--dist-path', dist],
      environment: { NEXT_PUBLIC_BASE_URL: baseUrl },
    })
    const page = await (await fetch(`${explorer.url}/access`)).text()
    expect(dataOf(page, 'boot')).toMatchObject({ registryHost: new URL(baseUrl).host, baseUrl })
    expect(await explorer.stop()).toBe(0)
  }
})

it('warns about the developer token, and reads the password from a file', async () => {
  const explorer = await startExplorer({
    serverUrl: 'http://127.0.0.1:9',
    flags: [
      '--dist-path',
      dist,
      '--dev-token-input',
      '--session-password-path',
      file('passwords', `${password}\n`),
    ],
    environment: { DEPOT_SESSION_PASSWORD: '' },
  })
  expect(explorer.log.find((line) => line.includes('not for production'))).toContain('"warn"')
  expect((await fetch(`${explorer.adminUrl}/livez`)).status).toBe(200)
  expect((await fetch(`${explorer.adminUrl}/readyz`)).status).toBe(200)
  expect(await (await fetch(`${explorer.adminUrl}/metrics`)).text()).toContain('depot_build_info')
  expect(await explorer.stop()).toBe(0)
})
