import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GnuPG } from '../../../pkg/archives/signing/gnupg.fixture.ts'

/** A key of a publisher of providers. */
export interface UpstreamKey {
  readonly fingerprint: string
  /** The public key as it is now. */
  readonly armored: string
  /** @param options of gpg, such as `--armor` or a time */
  sign(text: string, options?: readonly string[]): Buffer
}

export interface SigningKeys {
  readonly gpg: GnuPG
  /** @param options of gpg */
  create(name: string, options?: readonly string[], expires?: string): UpstreamKey
  close(): void
}

/** Makes keys with the real gpg, in a keyring of their own. */
export function openSigningKeys(): SigningKeys {
  const gpg = new GnuPG()
  const dir = mkdtempSync('/tmp/depot-keys-')
  const exported = (fingerprint: string) => gpg.run(['--armor', '--export', fingerprint])

  function sign(fingerprint: string, text: string, options: readonly string[]): Buffer {
    const [from, to] = [join(dir, 'text'), join(dir, 'signature')]
    writeFileSync(from, text)
    rmSync(to, { force: true })
    const output = ['--local-user', `${fingerprint}!`, '--output', to, '--detach-sign', from]
    gpg.run([...options, ...output])
    return readFileSync(to)
  }

  return {
    gpg,
    create(name, options = [], expires = 'never') {
      const unlocked = ['--pinentry-mode', 'loopback', '--passphrase', '', '--status-fd', '1']
      const said = gpg.run([
        ...unlocked,
        ...options,
        '--quick-gen-key',
        name,
        'rsa2048',
        'sign',
        expires,
      ])
      const [, fingerprint = ''] = /KEY_CREATED . ([0-9A-F]+)/.exec(said) ?? []
      return {
        fingerprint,
        get armored() {
          return exported(fingerprint)
        },
        sign: (text, more = []) => sign(fingerprint, text, more),
      }
    },
    close() {
      gpg.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
