import type { DownloadSummary } from '../../api/registry/registry.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { type Endpoint, endpoint, jsonResponse, type RegistryOptions } from './endpoint.ts'
import { noModule } from './find.ts'

export const downloadSummaryRoute = '/:namespace/:name/:system/downloads/summary'
const dayMs = 24 * 3_600_000

/** The downloads of a module in the form of the public registry. */
export function downloadSummaryEndpoint(options: RegistryOptions): Endpoint {
  const { catalog, history, clock = Date.now } = options
  return endpoint({
    route: downloadSummaryRoute,
    kind: 'Module',
    read: (path, parent) => ({ ...path, parent: parent ?? noModule(catalog, path) }),
    async answer({ parent, namespace, name, system }) {
      const resource = { kind: parent.kind, namespace: parent.namespace, name: parent.name }
      const hours = (await history?.(resource, []).catch(unreadable)) ?? []
      const since = (days: number) =>
        hours
          .filter(({ startsAt }) => startsAt > clock() - days * dayMs)
          .reduce((sum, { count }) => sum + count, 0)
      const kept = since(Infinity)
      const total = Math.max(
        kept,
        catalog.downloads.of('Module', resource.namespace, resource.name)?.count ?? 0,
      )
      const summary: DownloadSummary = {
        data: {
          type: 'module-downloads-summary',
          id: [namespace, name, system].join('/'),
          // The history reaches back 90 days. Nobody knows when older downloads were.
          attributes: {
            week: since(7),
            month: since(30),
            ...(kept === total && { year: total }),
            total,
          },
        },
      }
      return jsonResponse(summary, options)
    },
  })
}

/** Says what to do while the store of counts is unavailable. */
export const unreadable = (cause: unknown): never => {
  throw new RegistryError('Unavailable', 'the counts cannot be read now: try again in a moment', {
    cause,
  })
}
