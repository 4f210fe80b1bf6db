import { type Command, flagged } from './table.ts'

const options = flagged({})

/** Prints the digests of a provider's zip. */
export const hashCommand = {
  program: 'depot hash',
  operands: 'FILE.zip',
  summary:
    'Prints the digests that lock files have for the zip of a provider: zh of the file, and h1 of its content. Exits with 1 if the file is not such a zip.',
  examples: ['depot hash terraform-provider-dns_1.0.0_linux_amd64.zip'],
  options,
} satisfies Command<typeof options>
