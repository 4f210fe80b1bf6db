import { hash } from 'node:crypto'
import * as z from 'zod'
import { printable } from '../../base/errors/errors.ts'
import type { Listed } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { latestNews, type News } from './news.ts'
import {
  kindOf,
  nameOfKind,
  noParameters,
  onlyKind,
  onlyNamespace,
  optional,
  word,
} from './parameters.ts'
import { escaped } from './xml.ts'

const query = z.object({
  namespace: onlyNamespace,
  kind: onlyKind,
  name: optional(word, 'network', 'Only resources with this name.'),
})

const contentType = 'application/atom+xml; charset=utf-8'

export const feed = endpoint({
  route: '/feed.atom',
  operationId: 'getFeed',
  summary: 'Feed of news',
  description:
    'The last 100 new versions, deprecations, withdrawals and CRITICAL findings that the caller may see, as Atom (RFC 4287).',
  path: noParameters,
  query,
  response: z.string(),
  contentType,
  example: '<feed xmlns="http://www.w3.org/2005/Atom">...</feed>',
  answer({ catalog, view, query: asked }) {
    const { model } = catalog
    const { namespace, kind, name } = asked
    const selection = {
      namespaces: namespace === undefined ? undefined : [namespace],
      kind: kind && kindOf[kind],
    }
    const entries = model.newest(view, selection)
    const news = latestNews(
      catalog,
      name === undefined ? entries : entries.filter(({ summary }) => summary.name === name),
    )
    return { body: atom(asked, news), revision: () => model.revision }
  },
})

function atom({ namespace, kind, name }: z.output<typeof query>, news: readonly News[]): string {
  const chosen = Object.entries({ namespace, kind, name }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  )
  const search = new URLSearchParams(Object.fromEntries(chosen)).toString()
  const of = chosen.map(([key, value]) => `${key} ${value}`).join(', ')
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${idOf('feed', namespace ?? '', kind ?? '', name ?? '')}</id>
<title>${text(of === '' ? 'Depot' : `Depot: ${of}`)}</title>
<updated>${timeOf(news[0]?.at ?? 0)}</updated>
<author><name>Depot</name></author>
<link rel="self" type="application/atom+xml" href="${escaped(search === '' ? 'feed.atom' : `feed.atom?${search}`)}"/>
<link rel="alternate" type="text/html" href="../../../"/>
${news.map(entryOf).join('\n')}
</feed>
`
}

/** Links are relative, because the feed is the same for all hosts that serve it. */
function entryOf({ entry, version, what, at, text: words }: News): string {
  const { summary } = entry
  const { namespace, kind, name } = summary
  const path = [namespace, nameOfKind[kind], name].map(encodeURIComponent).join('/')
  const page = taken.has(namespace) ? `-/r/${path}` : path
  const title = `${titles[what]}: ${addressOf(entry)} ${version}`
  return `<entry>
<id>${idOf(namespace, kind, name, version, what)}</id>
<title>${text(title)}</title>
<updated>${timeOf(at)}</updated>
<category term="${what}"/>
<link rel="alternate" type="text/html" href="../../../${page}?version=${encodeURIComponent(version)}"/>
<content type="text">${text(words === '' ? title : words)}</content>
</entry>`
}

/** The explorer uses other paths for these namespaces, because the server uses their own. */
const taken: ReadonlySet<string> = new Set(['depot', 'broker'])

const titles: Readonly<Record<News['what'], string>> = {
  Published: 'New version',
  Deprecated: 'Deprecated',
  Yanked: 'Yanked',
  Quarantined: 'Quarantined',
  CriticalFindings: 'Critical findings',
}

const addressOf = ({ summary: { namespace, address } }: Listed): string => `${namespace}/${address}`

const maxTextBytes = 4096
const text = (words: string): string => escaped(printable(words, maxTextBytes))

const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** Makes a UUID of version 8, which is the same in every process and at any time. */
function idOf(...parts: readonly string[]): string {
  const digits = hash('sha256', JSON.stringify(parts))
  const groups = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ]
  return `urn:uuid:${groups.join('-')}`
}
