import * as z from 'zod'
import { previousVersion } from '../../api/changes/changes.ts'
import { ModuleComparison } from '../../api/docs/docs.ts'
import { compareModules } from '../../archives/compare/compare.ts'
import { notFound } from '../../base/errors/errors.ts'
import type { Parent } from '../catalog/catalog.ts'
import { docsOfVersion } from '../documentation/documentation.ts'
import { endpoint } from './endpoint.ts'
import { chosenVersion } from './module-docs.ts'
import { optional, resourcePath, word } from './parameters.ts'
import { requireVersion } from './resource-record.ts'

const query = z.object({
  from: optional(
    word,
    '1.1.0',
    'The earlier version. Default: the previous release with documentation.',
  ),
  to: optional(word, '2.0.0', 'The later version. Default: the latest.'),
})

export const moduleComparison = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/compare',
  operationId: 'compareVersions',
  summary: 'What changed between two versions of a module',
  description:
    'The changes of inputs, outputs, requirements and resources, and whether callers can take the later version unchanged. A provider has none.',
  path: resourcePath,
  query,
  response: ModuleComparison,
  example: {
    from: '1.1.0',
    to: '2.0.0',
    verdict: 'breaking',
    changes: [
      {
        kind: 'output',
        path: '',
        name: 'id',
        before: 'output',
        verdict: 'breaking',
        why: 'The output was removed.',
      },
    ],
    readme: 'same',
    dependencies: [],
  } satisfies ModuleComparison,
  waitsFor: 'storage',
  async answer(asked) {
    const { parent, title, version: to, state } = chosenVersion(asked, asked.query.to)
    const from = asked.query.from
      ? requireVersion(parent, asked.query.from)
      : previousOf(parent, to)
    if (from === undefined) {
      throw notFound(`${title} has no version before ${to}: choose one with ?from=`)
    }
    const before = await docsOfVersion(parent, from, asked.archives)
    const after = from === to ? before : await docsOfVersion(parent, to, asked.archives)
    return { body: JSON.stringify(compareModules(before, after, { from, to })), ...state }
  },
})

/** Returns the previous version that has documentation; without one, the previous version. */
function previousOf({ versions }: Parent, version: string): string | undefined {
  const documented = versions.filter((row) => row.version === version || row.docs !== undefined)
  const ofRows = (rows: typeof versions) =>
    previousVersion([...new Set(rows.map((row) => row.version))], version)
  return ofRows(documented) ?? ofRows(versions)
}
