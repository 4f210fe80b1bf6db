import * as z from 'zod'
import { shownUrl } from '../egress/egress.ts'
import { expectStatus, FillError, parseJson } from './errors.ts'
import type { Git } from './git.ts'
import { type ModuleAddress, moduleAddress } from './go-getter.ts'
import { bareVersion, resolveFromList, versionFrom } from './listings.ts'
import { RegistryClient, type UpstreamRegistryOptions } from './registry.ts'
import { shortHash } from './secrets.ts'
import type { ModuleUpstream, UpstreamOptions } from './types.ts'

export interface RegistryModuleOptions extends UpstreamRegistryOptions {
  readonly git: Git
  /** `namespace/name/system`. */
  readonly address: string
  readonly path: string | undefined
}

const Versions = z.object({
  modules: z
    .array(z.object({ versions: z.array(z.object({ version: z.string().max(256) })).max(20_000) }))
    .min(1),
})

const Location = z.object({ location: z.string().optional() })

/** A module of a registry that speaks the module protocol. */
export function registryModule(options: RegistryModuleOptions): ModuleUpstream {
  const { upstream, git, host, address } = options
  const type = 'registry'
  const identity = `registry:${host}/${address}`
  const registry = new RegistryClient(options, 'modules.v1', address)

  async function locate(ref: string, asking: UpstreamOptions): Promise<ModuleAddress> {
    const answer = await registry.ask(`${encodeURIComponent(ref)}/download`, asking)
    const { body, url, header } = expectStatus(answer, 200, 204)
    const location =
      header('x-terraform-get') ?? (body.length > 0 ? parseJson(answer, Location).location : '')
    if (location) return moduleAddress(location, url.href)
    throw new FillError('FetchFailed', `${shownUrl(url)} does not name the place of the module`)
  }

  return {
    identity,
    type,
    async list(asking) {
      const { value, unchanged } = await registry.versions(identity, Versions, asking)
      const listed = value.modules[0]?.versions ?? []
      const versions = listed.flatMap(({ version: ref }) => {
        const version = bareVersion(ref)
        return version === undefined ? [] : [{ version, ref }]
      })
      const dates = await options.published.of({ identity, registry, versions }, asking)
      const dated = versions.map((one) => ({ ...one, publishedAt: dates.get(one.version) }))
      const skipped = listed.length - versions.length
      return { versions: dated, skipped, unchanged, skewMs: upstream.skewMs(host) }
    },
    async resolve(text, asking) {
      const version = versionFrom(text)
      const { ref } = await resolveFromList(this, version, asking)
      const place = await locate(ref, asking)
      return { version, ref, revision: `${version}@${markOf(place)}`, place }
    },
    async fetch({ ref, revision, place: known }, fetching) {
      // The registry may name other content to a second question than the revision says.
      const place = known ?? (await locate(ref, fetching))
      const path = joined(place.path, options.path)
      if (place.kind === 'git') {
        const wanted = { url: place.url, ref: place.ref ?? 'HEAD', namedByUpstream: true }
        return { ...(await git.fetch(wanted, fetching)), revision, path }
      }
      const fetched = await upstream.fetch(place.url, type, fetching, { namedByUpstream: true })
      if (place.sha256 === undefined || place.sha256 === fetched.sha256) {
        return { ...fetched, revision, path }
      }
      await fetched.file.remove()
      throw new FillError(
        'ChecksumMismatch',
        `${shownUrl(place.url)} does not have the checksum that ${identity} names`,
      )
    },
  }
}

/** Changes with the content, as far as the place shows it. */
function markOf(place: ModuleAddress): string {
  if (place.kind === 'archive') return `mark:${shortHash(shownUrl(place.url))}`
  const { url, ref = '' } = place
  return /^[0-9a-f]{40}$/.test(ref) ? `sha1:${ref}` : `mark:${shortHash(`${url} ${ref}`)}`
}

function joined(outer: string | undefined, inner: string | undefined): string | undefined {
  return outer === undefined || inner === undefined ? (outer ?? inner) : `${outer}/${inner}`
}
