import * as z from 'zod'
import type { Command, Options, OptionTable, SecretTable } from './table.ts'

const options = {
  name: {
    flag: 'name',
    value: z.string().trim().min(1, 'must not be empty').max(200).meta({ title: 'NAME' }),
    default: 'Depot',
    meaning: 'Whose key it is: shown by the CLIs when they install a provider.',
  },
  email: {
    flag: 'email',
    value: z.email('is no e-mail address').meta({ title: 'ADDRESS' }),
    default: 'depot@localhost.localdomain',
    meaning: 'An address beside the name.',
  },
  out: {
    flag: 'out',
    value: z.string().min(1, 'must not be empty').meta({ title: 'FILE' }),
    otherwise: 'standard output',
    meaning:
      'Where the private key is written, readable by this user only. A file that is there already is never replaced.',
  },
} satisfies OptionTable

/** Makes a key for signing providers. */
export const keygenCommand = {
  program: 'depot keygen',
  summary: 'Makes a private GPG key that signs lists of checksums, for --gpg-private-key-path.',
  options,
  secrets: {},
  rules: [],
} satisfies Command<typeof options, SecretTable>

export type KeygenCommandOptions = Options<typeof options>
