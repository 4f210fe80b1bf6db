import { writeFileSync } from 'node:fs'
import { generateSigningKey } from '../../pkg/archives/signing/signing.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { type KeygenCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'

/**
 * Creates a signing key.
 *
 * @returns the armored private key, or a message with its file
 * @throws OptionsError if the file exists or cannot be written
 */
export async function keygen({ name, email, out }: KeygenCommandOptions): Promise<string> {
  const key = await generateSigningKey({ name, email })
  if (out === undefined) return key
  try {
    writeFileSync(out, key, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw new OptionsError([
      exists
        ? `--out: ${out} exists and is not replaced, because a server may sign with it. Choose another name, or rename that file to rotate the key`
        : `--out: ${messageOf(error)}`,
    ])
  }
  return `${out}: a new private key. Keep a copy that only you can read, and start \`depot server --gpg-private-key-path ${out}\`.\n`
}
