import * as z from 'zod'
import { type HeldBackItem, HeldBackList } from '../../api/browse/browse.ts'
import { heldWhys } from '../../api/held/held.ts'
import { type Catalog, compareText, heldBackText, type View } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { exceptionOf } from './exception.ts'
import { nameOfKind, noParameters, oneOf, optional, pageIn, paging, word } from './parameters.ts'

const orders = ['asked', 'free', 'newest'] as const

const query = z.object({
  why: optional(oneOf(heldWhys), 'TooYoung', 'Only this reason.'),
  depot: optional(
    word,
    'platform/public',
    'Only versions that the policy of this Depot holds back, as `namespace/name`.',
  ),
  q: optional(word, 'vpc', 'Part of an address or version, in any case.'),
  order: oneOf(orders)
    .default('asked')
    .meta({
      description: 'Most requested, released soonest, or held most recently first.',
      examples: ['free'],
    }),
  ...paging,
})

export const heldBack = endpoint({
  route: '/held-back',
  operationId: 'listHeldBack',
  summary: 'Versions of upstreams that policies hold back',
  description:
    'For the modules and providers that the caller may see: why a version is missing, when it will be stored, and how often it was requested.',
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
        publishedAt: '2026-11-26T09:45:12Z',
        until: '2026-12-03T10:00:00Z',
        askedFor: 3,
        except: {
          manifest:
            'spec:\n  policy:\n    exceptions:\n      - address: "github.com/acme/terraform-aws-vpc"\n        version: "5.2.0"\n        reason: "WHY"\n        by: "WHO"\n',
          command: `kubectl patch depot public --namespace platform --type json --patch '[{"op":"test","path":"/spec/policy/exceptions","value":null},{"op":"add","path":"/spec/policy/exceptions","value":[{"address":"github.com/acme/terraform-aws-vpc","version":"5.2.0","reason":"WHY","by":"WHO"}]}]'`,
        },
      },
    ],
    totalCount: 1,
    page: 1,
    pageSize: 20,
    unlisted: 0,
    depots: ['platform/public'],
  },
  answer({ catalog, view, query: { why, depot, q, order, ...asked } }) {
    const text = q?.toLowerCase()
    const revision = () => catalog.heldBackRevision
    const madeAt = revision()
    const all = heldItems(catalog, view)
    // Formats texts for the page only, because there may be very many.
    const chosen = all.filter(
      ({ item, held }) =>
        (why === undefined || held.why === why) &&
        (depot === undefined || item.depot === depot) &&
        (text === undefined || wordsOf(item).includes(text)),
    )
    const unlisted = [...catalog.model.shown(view)].reduce(
      (sum, { summary }) => sum + summary.resource.heldBackUnlisted,
      0,
    )
    const depots = new Set(all.flatMap(({ item }) => item.depot ?? []))
    const sorted = chosen.toSorted((a, b) => comparing[order](a.item, b.item))
    const { items, ...page } = pageIn(sorted, asked)
    const depotOf = new Map(
      catalog.model.depots(view).map((one) => [`${one.namespace}/${one.name}`, one]),
    )
    const answer: HeldBackList = {
      items: items.map(({ item, held }) => ({
        why: held.why,
        message: heldBackText(held),
        ...item,
        except: exceptionOf(held, depotOf.get(item.depot ?? '')),
      })),
      ...page,
      unlisted,
      depots: [...depots].toSorted(compareText),
    }
    return { body: JSON.stringify(answer), revision, madeAt }
  },
})

type Known = Omit<HeldBackItem, 'why' | 'message' | 'except'>

const wordsOf = ({ namespace, name, version, address }: Known): string =>
  `${namespace}/${name} ${version} ${address}`.toLowerCase()

type Order = (a: Known, b: Known) => number
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

function heldItems(catalog: Catalog, view: View) {
  return [...catalog.model.shown(view)].flatMap(({ parent, summary }) =>
    summary.resource.heldBack.map((held) => {
      const { version, address, depot, by, since, publishedAt, until } = held
      const item: Known = {
        kind: nameOfKind[summary.kind],
        namespace: summary.namespace,
        name: summary.name,
        version,
        address,
        depot,
        by,
        since,
        publishedAt,
        until,
        askedFor: parent.refusalsOf(version),
      }
      return { item, held }
    }),
  )
}
