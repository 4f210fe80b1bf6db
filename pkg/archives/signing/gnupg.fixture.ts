import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The real gpg with its own keyring, for tests. */
export class GnuPG {
  /** Whether to test with gpg: always in CI, otherwise if it is installed. */
  static readonly wanted =
    process.env['CI'] !== undefined || spawnSync('gpg', ['--version']).status === 0

  /** Short, because the path of its agent's socket has a limit. */
  readonly #home = mkdtempSync('/tmp/gpg-')

  constructor() {
    // Its agent would make every passphrase cost a tenth of a second.
    writeFileSync(join(this.#home, 'gpg-agent.conf'), 's2k-count 65536\n')
  }

  run(args: readonly string[], input = ''): string {
    return execFileSync('gpg', ['--homedir', this.#home, '--batch', ...args], {
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      input,
    })
  }

  /** @returns the output of gpg for a good signature; it throws for any other */
  verify(text: string, signature: Uint8Array): string {
    const [textPath, signaturePath] = [join(this.#home, 'text'), join(this.#home, 'text.sig')]
    writeFileSync(textPath, text)
    writeFileSync(signaturePath, signature)
    return this.run(['--status-fd', '1', '--verify', signaturePath, textPath])
  }

  close(): void {
    spawnSync('gpgconf', ['--homedir', this.#home, '--kill', 'all'])
    rmSync(this.#home, { recursive: true, force: true })
  }
}
