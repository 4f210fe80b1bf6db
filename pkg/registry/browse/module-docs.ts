import * as z from 'zod'
import { VersionDocs } from '../../api/browse/browse.ts'
import type { ModuleDocs } from '../../api/docs/docs.ts'
import { notFound } from '../../base/errors/errors.ts'
import { docsTextOfVersion } from '../documentation/documentation.ts'
import { type BrowseAsked, endpoint } from './endpoint.ts'
import { optional, resourcePath, word } from './parameters.ts'
import {
  findResource,
  type ResourceAddress,
  requireVersion,
  revisionOf,
} from './resource-record.ts'

export const docsQuery = z.object({
  version: optional(word, '1.1.0', 'The version whose documentation to show. Default: the latest.'),
})

export const moduleDocs = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/docs',
  operationId: 'getDocs',
  summary: 'Inputs, outputs and README of a module',
  description:
    'Inputs, outputs, providers, resources, module calls and README of a module version: of its root, its submodules and its examples. A provider has none.',
  path: resourcePath,
  query: docsQuery,
  response: VersionDocs,
  example: {
    schema: 1,
    address: 'network/aws',
    version: '2.0.0',
    root: {
      path: '',
      readme: '# Network',
      inputs: [
        {
          name: 'cidr',
          type: 'string',
          description: 'Range of the network.',
          required: true,
          sensitive: false,
          nullable: true,
          ephemeral: false,
          validations: [],
        },
      ],
      outputs: [{ name: 'id', sensitive: false, ephemeral: false }],
      providers: [{ name: 'aws', source: 'hashicorp/aws', version: '~> 6.0', aliases: [] }],
      resources: [{ mode: 'managed', type: 'aws_vpc', name: 'this' }],
      modules: [],
      refactorings: [],
    },
    submodules: [],
    examples: [],
  } satisfies VersionDocs,
  waitsFor: 'storage',
  async answer(asked) {
    const { parent, summary, version, state } = chosenVersion(asked, asked.query.version)
    const text = await docsTextOfVersion(parent, version, asked.archives)
    const own: Omit<VersionDocs, keyof ModuleDocs> = { address: summary.address, version }
    return { body: `${JSON.stringify(own).slice(0, -1)},${text.trimStart().slice(1)}`, ...state }
  },
})

/**
 * @param wanted default: the latest version
 * @param kind the only kind that has such documentation
 * @throws RegistryError NotFound if the caller may not see the resource, it has no such version, or is of another kind
 */
export function chosenVersion(
  { catalog, view, path }: Omit<BrowseAsked<unknown, ResourceAddress>, 'query'>,
  wanted: string | undefined,
  kind: 'module' | 'provider' = 'module',
) {
  const { parent, summary } = findResource(catalog, view, path)
  const title = `${path.kind} ${summary.namespace}/${summary.name}`
  if (path.kind !== kind) throw notFound(`${title} has no such documentation: only ${kind}s have`)
  const version = wanted ? requireVersion(parent, wanted) : summary.latestVersion
  if (version === undefined) throw notFound(`${title} has no version: see its conditions`)
  const revision = () => revisionOf(catalog, view, path)
  // The version may change while storage is read.
  return { parent, summary, title, version, state: { revision, madeAt: revision() } }
}
