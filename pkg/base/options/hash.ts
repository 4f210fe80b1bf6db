import { type Command, flagged } from './table.ts'

const options = flagged({})

/** Prints the digests of a provider's zip. */
export const hashCommand = {
  program: 'depot hash',
  operands: 'FILE.zip',
  summary:
    'Prints the digests of the zip of a provider as lock files have them: zh of the file, and h1 of its content. Exits with 1 if it is not such a zip.',
  examples: ['depot hash terraform-provider-dns_1.0.0_linux_amd64.zip'],
  options,
} satisfies Command<typeof options>
