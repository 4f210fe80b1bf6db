import * as z from 'zod'
import { registryOptions } from './compare.ts'
import { outputFormat, outputOption } from './printing.ts'
import { type Command, flagged, type Options } from './table.ts'

const options = flagged({
  output: {
    ...outputOption,
    value: outputFormat('markdown', 'json'),
    default: 'markdown',
    meaning: 'Output format: markdown (tables of the root module) or json (everything).',
  },
  inject: {
    value: z.string().min(1, 'must not be empty').meta({ title: 'FILE' }),
    otherwise: 'the result is printed',
    meaning:
      'File to update: Depot replaces the text between BEGIN_TF_DOCS and END_TF_DOCS. A relative path is below the folder of the module; for an archive or address, below the working folder.',
  },
  ...registryOptions,
})

/** Prints what a module takes and gives. */
export const docsCommand = {
  program: 'depot docs',
  operands: 'FOLDER|ARCHIVE|ADDRESS',
  summary:
    'Prints the inputs, outputs, resources, module calls and required providers of a module, as the explorer shows them. An address is HOST/NAMESPACE/NAME/SYSTEM with or without @VERSION. Exits with 1 if a file cannot be parsed.',
  examples: [
    'depot docs .',
    'depot docs . --inject README.md',
    'depot docs vpc-1.2.0.zip -o json',
    'depot docs depot.example.com/network/vpc/aws@1.4.0',
  ],
  options,
  rules: [
    ({ given, text }) =>
      given('inject') && text('output') === 'json'
        ? '--inject writes Markdown: leave out -o json'
        : undefined,
  ],
} satisfies Command<typeof options>

export type DocsCommandOptions = Options<typeof options>
