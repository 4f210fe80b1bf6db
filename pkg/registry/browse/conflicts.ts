import * as z from 'zod'
import { type BrowseConflict, ConflictList, unservedReasons } from '../../api/browse/browse.ts'
import {
  type Catalog,
  compareText,
  type Parent,
  type VersionRow,
  type View,
} from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import {
  anyNamespace,
  nameOfKind,
  noParameters,
  oneOf,
  optional,
  pageIn,
  paging,
  word,
} from './parameters.ts'
import { whyNot } from './resource-record.ts'

const query = z.object({
  namespace: anyNamespace,
  reason: optional(oneOf(unservedReasons), 'Duplicate', 'Only this reason.'),
  q: optional(word, 'net', 'Part of a name, in any case.'),
  ...paging,
})

export const conflicts = endpoint({
  route: '/conflicts',
  operationId: 'listConflicts',
  summary: 'Known objects that are not served',
  description:
    'Modules and providers whose address another one has, and Versions that cannot be downloaded, as far as the caller may see them. Sorted by reason, namespace, resource and name.',
  path: noParameters,
  query,
  response: ConflictList,
  example: {
    items: [
      {
        reason: 'Duplicate',
        message: 'duplicate of network-2.0.0, which was first: remove one',
        servedInstead: 'network-2.0.0',
        kind: 'module',
        namespace: 'platform',
        name: 'network-2.0.0-copy',
        resource: 'network',
        address: 'network/aws',
        version: '2.0.0',
      },
    ],
    totalCount: 1,
    page: 1,
    pageSize: 20,
    counts: [{ reason: 'Duplicate', count: 1 }],
  },
  answer({ catalog, view, query: { namespace, reason, q, ...asked } }) {
    const text = q?.toLowerCase()
    const all = conflictsOf(catalog, view).filter(
      (one) =>
        (namespace === undefined || namespace.includes(one.namespace)) &&
        (text === undefined || wordsOf(one).includes(text)),
    )
    const chosen = all.filter((one) => reason === undefined || one.reason === reason)
    const answer: ConflictList = {
      ...pageIn(chosen.toSorted(byReason), asked),
      counts: unservedReasons
        .map((each) => ({ reason: each, count: all.filter((one) => one.reason === each).length }))
        .filter(({ count }) => count > 0),
    }
    return { body: JSON.stringify(answer), revision: () => catalog.conflictRevision }
  },
})

const wordsOf = ({ namespace, name, resource = '', address = '' }: BrowseConflict): string =>
  `${namespace}/${name} ${namespace}/${resource} ${address}`.toLowerCase()

const byReason = (a: BrowseConflict, b: BrowseConflict): number =>
  unservedReasons.indexOf(a.reason) - unservedReasons.indexOf(b.reason) ||
  compareText(a.namespace, b.namespace) ||
  compareText(a.resource, b.resource) ||
  compareText(a.name, b.name) ||
  compareText(a.kind, b.kind)

function conflictsOf(catalog: Catalog, view: View): BrowseConflict[] {
  const found: (BrowseConflict | undefined)[] = []
  for (const { parent, summary } of catalog.model.shown(view)) {
    found.push(ofParent(catalog, parent))
    const { address, states } = summary
    if (states.unservable === 0) continue
    // A parent without an address is reported itself, instead of its Versions.
    const rows = parent.displacedBy === undefined ? parent.versions : []
    for (const row of rows) found.push(ofVersion(row, address))
  }
  for (const row of catalog.orphans()) {
    if (view.allows(row.kind, row.parentName ?? '')) found.push(ofVersion(row))
  }
  return found.filter((one) => one !== undefined)
}

function ofParent(catalog: Catalog, parent: Parent): BrowseConflict | undefined {
  const unserved = catalog.conflictOf(parent)
  if (unserved === undefined || parent.resource === undefined) return undefined
  const { kind, namespace, name } = parent
  const { configName, system } = parent.resource
  const address = system === undefined ? configName : `${configName}/${system}`
  return { ...whyNot(unserved), kind: nameOfKind[kind], namespace, name, resource: name, address }
}

function ofVersion(row: VersionRow, address?: string): BrowseConflict | undefined {
  const { unserved, namespace, name, version, os, arch } = row
  if (unserved === undefined) return undefined
  const kind = nameOfKind[row.kind]
  const resource = row.parent?.name
  return { ...whyNot(unserved), kind, namespace, name, resource, address, version, os, arch }
}
