import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encryptKey, readPrivateKey } from 'openpgp'
import { afterAll, describe, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { generateSigningKey } from '../../pkg/archives/signing/signing.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-main-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = (name: string, content: string): string => {
  writeFileSync(join(dir, name), content)
  return join(dir, name)
}

const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runProgram(dir, ['server', ...args], env)
const anonymous = ['--anonymous-auth', '--manifests', dir]

it('prints its version', async () => {
  expect(await start(['--version'])).toMatchObject({
    status: 0,
    stdout: `${packageJson.version}\n`,
  })
})

it('prints its options', async () => {
  expect(await start(['--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('--manifests'),
  })
})

describe('a start with bad options exits with 2 and prints why', () => {
  const key = file('file', 'neither a key nor a folder')
  it.each([
    ['unknown flag', [...anonymous, '--manifest', dir], ['--manifest is unknown']],
    ['bad value', [...anonymous, '--listen', 'nowhere:99999'], ['--listen']],
    ['no folder', ['--anonymous-auth', '--manifests', `${dir}/none`], ['does not exist']],
    [
      'no archives',
      [...anonymous, '--archives', `${dir}/none`],
      ['--archives: the folder', 'does not exist'],
    ],
    ['a file for a folder', ['--anonymous-auth', '--manifests', key], ['is not a folder']],
    ['no key', [...anonymous, '--gpg-private-key-path', `${dir}/none`], ['--gpg-private-key-path']],
    ['a certificate without its key', [...anonymous, '--tls-cert-path', key], ['--tls-cert-key']],
    [
      'neither manifests nor a cluster',
      ['--anonymous-auth'],
      ['--kubeconfig FILE', '--manifests DIR'],
    ],
    [
      'no kubeconfig',
      ['--anonymous-auth', '--kubeconfig', `${dir}/none`],
      [`cannot read the kubeconfig ${dir}/none`],
    ],
    ['contradictory modes', [...anonymous, '--use-bearer-token'], ['--use-bearer-token']],
    [
      'everything at once',
      [
        '--anonymous-auth',
        '--manifests',
        `${dir}/none`,
        '--nope',
        '--gpg-private-key-path',
        dir,
        '--log-level',
        'loud',
      ],
      ['--nope is unknown', 'does not exist', '--gpg-private-key-path', '--log-level'],
    ],
  ])('%s', async (_, args, messages) => {
    const { status, stderr, stdout } = await start(args)
    expect([status, stdout]).toEqual([2, ''])
    for (const message of messages) expect(stderr).toContain(message)
    expect(stderr).not.toContain('    at ')
  })

  it('a wrong passphrase', async () => {
    const armoredKey = await generateSigningKey({ name: 'D', email: 'd@example.com' })
    const privateKey = await readPrivateKey({ armoredKey })
    const lockedKey = await encryptKey({ privateKey, passphrase: 'right' })
    const locked = file('locked.asc', lockedKey.armor())
    const { status, stderr } = await start([...anonymous, '--gpg-private-key-path', locked], {
      DEPOT_GPG_PASSPHRASE: 'wrong',
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining('DEPOT_GPG_PASSPHRASE')])
  })

  it('a busy port', async () => {
    const busy = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => busy.once('listening', resolve))
    const { port } = busy.address() as AddressInfo
    const { status, stderr } = await start([...anonymous, '--listen', `127.0.0.1:${port}`])
    busy.close()
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`cannot listen on 127.0.0.1:${port}: the port is in use`),
    ])
  })
})
