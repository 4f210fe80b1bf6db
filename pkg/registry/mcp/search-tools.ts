import * as z from 'zod'
import { itemsOf } from './page.ts'
import { tool, word } from './tool.ts'

const words = word(
  'At most 8 words. Each must begin a word of a name, namespace, system, resource type, provider, input, output, submodule, description or README heading.',
)

const input = z.strictObject({
  query: words,
  namespace: word('Only this namespace.').optional(),
})

/** Number of results that are read at once. The page has those that fit. */
const limit = 50

const searchTool = (kind: 'module' | 'provider') =>
  tool({
    name: `search_${kind}s`,
    title: `Search ${kind}s`,
    description: `Finds ${kind}s of this registry by names and documentation, best first. Says where the words matched, and the latest version.`,
    input,
    async answer({ query, namespace, cursor }, { questions, view, host }) {
      const found = await questions.search(
        view,
        {},
        {
          q: query,
          kind,
          namespace: namespace === undefined ? undefined : [namespace],
          limit: String(limit),
          cursor: cursor === 0 ? undefined : String(cursor),
        },
      )
      const items = found.items.map(({ namespace: at, address, ...item }) => ({
        address: `${at}/${address}`,
        source: `${host}/${at}/${address}`,
        latestVersion: item.latestVersion,
        matched: item.matched,
        synced: item.synced,
        public: item.public,
        reason: item.reason,
        message: item.message,
        scanCounts: item.scanCounts,
        totalDownloads: item.totalDownloads,
        repoUrl: item.repoUrl,
      }))
      const { totalCount, isTruncated } = found
      return {
        head: { totalCount, isTruncated },
        parts: itemsOf('items', items),
        offset: cursor,
        total: totalCount,
      }
    },
  })

export const searchTools = [searchTool('module'), searchTool('provider')]
