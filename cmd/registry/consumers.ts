import * as z from 'zod'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { type BrowseApi, browseApi, NotTold } from './browse-api.ts'
import type { Registry, RegistryVersion } from './open-registry.ts'

const text = z.string()
/** Later versions of Depot may write more fields. They appear in JSON, too. */
const Consumer = z.looseObject({
  consumer: text,
  versions: z.array(
    z.looseObject({
      version: text,
      lastUsed: text,
      days: z.number(),
      state: text.optional(),
      critical: z.number().optional(),
    }),
  ),
  lastUsed: text,
  behind: z.number(),
})
export type Consumer = z.infer<typeof Consumer>
const Page = z.object({ items: z.array(Consumer), totalCount: z.number(), consumers: z.number() })

/**
 * Reads who uses a module or provider, or one version of it.
 *
 * @param object path that the browse API has for it
 * @throws OptionsError if the registry does not answer
 */
export async function consumersIn(
  api: BrowseApi,
  object: string,
  version?: string,
): Promise<{ readonly items: readonly Consumer[]; readonly total: number }> {
  const items: Consumer[] = []
  for (let page = 1; ; page += 1) {
    const query = new URLSearchParams({ page: String(page), page_size: '100' })
    if (version !== undefined) query.set('version', version)
    const found = await api.ask(`${object}/consumers?${query.toString()}`, Page)
    items.push(...found.items)
    if (found.items.length === 0 || items.length >= found.totalCount) {
      return { items, total: found.consumers }
    }
  }
}

/** Consumers of a version, with the number of all consumers of its module. */
export interface VersionUsers {
  readonly version: string
  readonly consumers: readonly Consumer[]
  readonly total: number
}

/**
 * Reads who uses a version. It only reports a failure, because the caller's main task does not depend on it.
 *
 * @returns undefined if the registry is not a Depot, refuses this caller, or fails
 */
export async function usersOf(
  registry: Registry,
  { host, path, version: spelled }: RegistryVersion,
): Promise<VersionUsers | undefined> {
  const version = spelled.replace(/^v(?=\d)/, '')
  const api = browseApi(registry, host)
  try {
    const { items, total } = await consumersIn(api, await api.objectAt(path), version)
    return { version, consumers: items, total }
  } catch (error) {
    if (!(error instanceof NotTold)) {
      process.stderr.write(`depot: who uses ${version} is not known: ${messageOf(error)}\n`)
    }
    return undefined
  }
}

const shownConsumers = 10

/** Formats one sentence for authors. */
export function usersText({ version, consumers, total }: VersionUsers): string {
  if (total === 0) return 'No consumer of this module is known.'
  const all = total === 1 ? '1 consumer' : `${total} consumers`
  if (consumers.length === 0) return `None of ${all} uses ${version}.`
  const names = consumers.slice(0, shownConsumers).map(({ consumer }) => consumer)
  const more = consumers.length - names.length
  const use = consumers.length === 1 ? 'uses' : 'use'
  return `${consumers.length} of ${all} ${use} ${version}: ${names.join(', ')}${more > 0 ? `, and ${more} more` : ''}.`
}
