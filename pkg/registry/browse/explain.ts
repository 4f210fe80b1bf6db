import * as z from 'zod'
import { Explanation } from '../../api/browse/browse.ts'
import { normalizeVersion, type ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { notFound } from '../../base/errors/errors.ts'
import { type Catalog, compareText, type VersionRow, type View } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { nameOfKind, noParameters, optional, word } from './parameters.ts'
import { whyNot } from './resource-record.ts'

const query = z.object({
  address: word
    .regex(/^([^/.:]*[.:][^/]*\/)?[^/]+\/[^/]+(\/[^/]+)?$/, {
      message: 'must be namespace/name/system of a module, or namespace/type of a provider',
    })
    .meta({
      description:
        '`namespace/name/system` of a module or `namespace/type` of a provider, with or without the host in front. Without a system, it also matches modules of that name.',
      examples: ['platform/network/aws'],
    }),
  version: optional(word, '2.0.0', 'A version of it.'),
})

export const explain = endpoint({
  route: '/explain',
  operationId: 'explainAddress',
  summary: 'Who has an address',
  description:
    'Which modules or providers claim an address, and which one has it. With a version: which Versions are served, and why the others are not.',
  path: noParameters,
  query,
  response: Explanation,
  example: {
    address: 'platform/network/aws',
    claims: [
      { kind: 'module', namespace: 'platform', name: 'network', address: 'network/aws' },
      {
        kind: 'module',
        namespace: 'platform',
        name: 'network-copy',
        address: 'network-copy/aws',
        reason: 'AddressTaken',
        message:
          'its address network/aws is that of network, so it is served as network-copy alone: give it another name in its config',
        servedInstead: 'network',
      },
    ],
  },
  notFound:
    'nothing that you may see has the address platform/network/aws: check namespace, name and system',
  answer({ catalog, view, query: { address, version } }) {
    const explanation = explanationOf(catalog, view, address, version)
    if (explanation === undefined) {
      throw notFound(
        `nothing that you may see has the address ${address}: check namespace, name and system`,
      )
    }
    return { body: JSON.stringify(explanation), revision: () => catalog.conflictRevision }
  },
})

export function namespaceIn(address: string): string | undefined {
  return partsOf(address)[0]
}

/** The parts of an address after the host, if it has one. A host has a dot or a port, a namespace has neither. */
export function partsOf(address: string): readonly string[] {
  const parts = address.split('/')
  return /[.:]/.test(parts[0] ?? '') ? parts.slice(1) : parts
}

/** @returns undefined if the view shows nothing of it */
export function explanationOf(
  catalog: Catalog,
  view: View,
  address: string,
  version: string | undefined,
): Explanation | undefined {
  const [namespace = '', name = '', system] = partsOf(address)
  const kinds: readonly ParentKind[] = system === undefined ? ['Module', 'Provider'] : ['Module']
  const number = version && normalizeVersion(version)
  const claims: Explanation['claims'] = []
  const rows: VersionRow[] = []
  for (const kind of kinds) {
    for (const parent of catalog.claiming(kind, namespace, name, system)) {
      const entry = catalog.model.find(view, kind, namespace, parent.name)
      if (entry === undefined) continue
      const unserved = catalog.conflictOf(parent)
      const object = { kind: nameOfKind[kind], namespace, name: parent.name }
      claims.push({ ...object, address: entry.summary.address, ...whyNot(unserved) })
      if (number !== undefined) rows.push(...parent.rowsOf(number))
    }
  }
  for (const row of catalog.orphans()) {
    const isMeant = row.namespace === namespace && row.parentName === name && row.version === number
    if (isMeant && kinds.includes(row.kind) && view.allows(row.kind, name)) rows.push(row)
  }
  if (claims.length + rows.length === 0) return undefined
  return {
    address,
    claims: claims.toSorted(byKindAndName),
    versions: number === undefined ? undefined : rows.map(versionOf).toSorted(byKindAndName),
  }
}

function versionOf(row: VersionRow): NonNullable<Explanation['versions']>[number] {
  const { namespace, name, parent, version, os, arch, unserved } = row
  const kind = nameOfKind[row.kind]
  return { kind, namespace, name, resource: parent?.name, version, os, arch, ...whyNot(unserved) }
}

interface Named {
  readonly kind: string
  readonly name: string
}

const byKindAndName = (a: Named, b: Named): number =>
  compareText(a.kind, b.kind) || compareText(a.name, b.name)
