import * as z from 'zod'
import { type Command, flagged, type Options } from './table.ts'

const options = flagged({
  name: {
    value: z.string().trim().min(1, 'must not be empty').max(200).meta({ title: 'NAME' }),
    default: 'Depot',
    meaning: 'Owner of the key. The CLIs show it when they install a provider.',
  },
  email: {
    value: z.email('is not an e-mail address').meta({ title: 'ADDRESS' }),
    default: 'depot@localhost.localdomain',
    meaning: 'E-mail address of the owner.',
  },
  out: {
    value: z.string().min(1, 'must not be empty').meta({ title: 'FILE' }),
    otherwise: 'standard output',
    meaning:
      'File for the private key, readable by this user only. An existing file is never replaced.',
  },
})

/** Makes a key for signing providers. */
export const keygenCommand = {
  program: 'depot keygen',
  summary: 'Creates a private GPG key that signs lists of checksums, for --gpg-private-key-path.',
  examples: [
    'depot keygen --out signing-key.asc',
    'depot keygen --name "Platform Team" --email platform@example.com --out signing-key.asc',
  ],
  options,
} satisfies Command<typeof options>

export type KeygenCommandOptions = Options<typeof options>
