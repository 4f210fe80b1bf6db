import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { kubeconfigOf } from '../../hack/testbed/control-plane/kubeconfig.ts'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { runProgram } from '../../hack/testbed/program/program.ts'

const controller = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runProgram(tmpdir(), ['controller', ...args], env)

it('says that it needs a cluster', () => {
  const program = join(import.meta.dirname, '../depot/main.ts')
  const { status, stderr } = spawnSync(process.execPath, [program, 'controller'], {
    encoding: 'utf8',
    env: bareEnvironment,
    timeout: 60_000,
  })
  expect(status).toBe(2)
  expect(stderr).toContain('not in a cluster and no kubeconfig: name one with --kubeconfig FILE')
})

it('lists all unusable options in one message', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'depot-controller-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const kubeconfig = join(dir, 'kubeconfig')
  writeFileSync(
    kubeconfig,
    kubeconfigOf({ url: 'https://127.0.0.1:9', token: 'x', caFile: kubeconfig }),
  )
  const flags = {
    kubeconfig,
    'admin-listen': '127.0.0.1:0',
    'egress-ca-path': join(dir, 'none.pem'),
    'egress-private-cidrs': 'nonsense',
    'spool-dir': join(kubeconfig, 'spool'),
  }
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  const { status, stderr } = await controller(args)
  expect(status).toBe(2)
  for (const flag of ['--egress-ca-path: ', '--egress-private-cidrs: ', '--spool-dir: ']) {
    expect(stderr).toContain(flag)
  }
})

it.each([{}, { DEPOT_EVENTS_WEBHOOK_KEY: 'short' }])(
  'refuses to sign events with %o',
  async (key) => {
    const { status, stderr } = await controller(
      ['--events-webhook=https://events.example.com'],
      key,
    )
    expect(status).toBe(2)
    expect(stderr).toContain('--events-webhook needs a key of at least 24 characters')
  },
)
