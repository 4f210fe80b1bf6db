import * as z from 'zod'
import type { VersionDocs } from '../../api/browse/browse.ts'
import type { FolderDocs } from '../../api/docs/docs.ts'
import { usageBlock } from '../../api/usage/usage.ts'
import { hasReason, messageOf, notFound, printable } from '../../base/errors/errors.ts'
import { itemsOf, type Part, textOf } from './page.ts'
import {
  factsOf,
  moduleAddress,
  type Subject,
  subjectOf,
  type ToolAsked,
  tool,
  usageOf,
  version,
  word,
} from './tool.ts'

export const getModule = tool({
  name: 'get_module',
  title: 'Get a module',
  description:
    'Reads the inputs, outputs, required providers, resources, submodules, examples and README of a module version, and the block that uses it.',
  input: z.strictObject({
    module: moduleAddress,
    version,
    folder: word('A submodule or example, such as modules/subnet. Default: the root.').optional(),
  }),
  async answer(input, asked) {
    const subject = subjectOf(asked, ['Module'], input.module, input.version)
    const folder = input.folder ?? subject.folder
    const { questions, view, host } = asked
    const { path } = subject
    const wanted = { version: subject.version }
    const detail = await questions.resource(view, path, { ...wanted, findings: 'false' })
    const docs = await docsOf(asked, subject)
    const shown = typeof docs === 'string' ? undefined : folderOf(docs, folder, input.module)
    const { selectedVersion } = detail
    const required = shown?.inputs.filter((it) => it.required)
    const usage = usageBlock(
      { registryHost: host, ...path, address: detail.address, provider: detail.provider, folder },
      'terraform',
      selectedVersion,
      required,
    )
    return {
      head: {
        ...factsOf(detail, host),
        folder,
        ...(typeof docs === 'string' ? { missing: docs } : { leftOut: docs.leftOut }),
        ...(shown && {
          description: shown.description,
          requiredVersion: shown.requiredVersion,
          error: shown.error,
        }),
      },
      parts: [
        ...usageOf(detail, usage),
        ...(shown ? interfaceOf(shown) : []),
        ...(shown?.path === '' && typeof docs !== 'string'
          ? [...foldersOf('submodules', docs), ...foldersOf('examples', docs)]
          : []),
        ...textOf(
          'readme',
          shown?.readme ?? (folder === undefined ? detail.readmeContent : undefined),
        ),
      ],
    }
  },
})

/** The documentation, or why there is none. */
async function docsOf(
  { questions, view }: ToolAsked,
  subject: Subject,
): Promise<VersionDocs | string> {
  try {
    return await questions.docs(view, subject.path, { version: subject.version })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return messageOf(error)
    throw error
  }
}

function folderOf(docs: VersionDocs, folder: string | undefined, address: string): FolderDocs {
  if (folder === undefined) return docs.root
  const all = [...docs.submodules, ...docs.examples]
  const found = all.find(({ path }) => path === folder)
  if (found !== undefined) return found
  const known = all.map(({ path }) => path).join(', ')
  throw notFound(
    `version ${docs.version} of module ${address} has no folder ${folder}: ${known === '' ? 'leave folder out' : `choose one of ${printable(known, 2000)}`}`,
  )
}

const interfaceOf = ({ inputs, outputs, providers, resources, modules }: FolderDocs): Part[] => [
  ...itemsOf('inputs', inputs),
  ...itemsOf('outputs', outputs),
  ...itemsOf('providers', providers),
  ...itemsOf('modules', modules),
  ...itemsOf('resources', resources),
]

const foldersOf = (list: 'submodules' | 'examples', docs: VersionDocs): Part[] =>
  itemsOf(
    list,
    docs[list].map(({ path, description }) => ({ path, description })),
  )
