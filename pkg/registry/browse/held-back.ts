import * as z from 'zod'
import { type HeldBackItem, HeldBackList, heldWhys } from '../../api/browse/browse.ts'
import { type Catalog, compareText, heldBackText, type View, whyHeld } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { nameOfKind, noParameters, oneOf, pageOf, paging, word } from './parameters.ts'

const orders = ['asked', 'free', 'newest'] as const

const query = z.object({
  why: oneOf(heldWhys)
    .optional()
    .meta({ description: 'Only this reason.', examples: ['TooYoung'] }),
  depot: word.optional().meta({
    description: 'Only what the policy of this Depot holds, as `namespace/name`.',
    examples: ['platform/public'],
  }),
  q: word
    .optional()
    .meta({ description: 'Part of an address or version, in any case.', examples: ['vpc'] }),
  order: oneOf(orders)
    .default('asked')
    .meta({
      description: 'Most asked for, free soonest, or held since the latest first.',
      examples: ['free'],
    }),
  ...paging,
})

export const heldBack = endpoint({
  route: '/held-back',
  operationId: 'listHeldBack',
  summary: 'Versions of upstreams that policies hold back',
  description:
    'Of the modules and providers that the caller may see: why a version is not here, when it comes, and how often it was asked for.',
  path: noParameters,
  query,
  response: HeldBackList,
  example: {
    items: [
      {
        why: 'TooYoung',
        message:
          'held back until 2026-12-03T10:00:00Z: it is too young for the policy of Depot platform/public',
        kind: 'module',
        namespace: 'platform',
        name: 'vpc',
        version: 'v5.2.0',
        address: 'github.com/acme/terraform-aws-vpc',
        depot: 'platform/public',
        since: '2026-11-26T10:00:00Z',
        until: '2026-12-03T10:00:00Z',
        askedFor: 3,
      },
    ],
    totalCount: 1,
    page: 1,
    pageSize: 20,
    depots: ['platform/public'],
  },
  badRequest: `why must be one of ${heldWhys.join(', ')}`,
  answer({ catalog, view, query: { why, depot, q, order, ...asked } }) {
    const { page, pageSize, offset } = pageOf(asked)
    const text = q?.toLowerCase()
    const all = heldItems(catalog, view)
    const chosen = all.filter(
      (one) =>
        (why === undefined || one.why === why) &&
        (depot === undefined || one.depot === depot) &&
        (text === undefined || wordsOf(one).includes(text)),
    )
    const depots = new Set(all.flatMap((one) => one.depot ?? []))
    const answer: HeldBackList = {
      items: chosen.toSorted(comparing[order]).slice(offset, offset + pageSize),
      totalCount: chosen.length,
      page,
      pageSize,
      depots: [...depots].toSorted(compareText),
    }
    return { body: JSON.stringify(answer) }
  },
})

const wordsOf = ({ namespace, name, version, address }: HeldBackItem): string =>
  `${namespace}/${name} ${version} ${address}`.toLowerCase()

type Order = (a: HeldBackItem, b: HeldBackItem) => number
const never = '9999'
const byName: Order = (a, b) =>
  compareText(a.namespace, b.namespace) ||
  compareText(a.name, b.name) ||
  compareText(a.kind, b.kind) ||
  compareText(a.version, b.version)
const comparing: Readonly<Record<(typeof orders)[number], Order>> = {
  asked: (a, b) => b.askedFor - a.askedFor || byName(a, b),
  free: (a, b) => compareText(a.until ?? never, b.until ?? never) || byName(a, b),
  newest: (a, b) => compareText(b.since ?? '', a.since ?? '') || byName(a, b),
}

function heldItems(catalog: Catalog, view: View): HeldBackItem[] {
  return [...catalog.model.shown(view)].flatMap(({ parent, summary }) =>
    summary.resource.heldBack.map((held) => {
      const { version, address, depot, by, since, until } = held
      return {
        why: whyHeld(held),
        message: heldBackText(held),
        kind: nameOfKind[summary.kind],
        namespace: summary.namespace,
        name: summary.name,
        version,
        address,
        depot,
        by,
        since,
        until,
        askedFor: parent.refusalsOf(version),
      }
    }),
  )
}
