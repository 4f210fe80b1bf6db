import type { Context } from 'hono'
import type { ArchiveLocation, ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { after, note, type ServingEnv } from '../../base/serving/serving.ts'
import type { VersionRow } from '../catalog/catalog.ts'
import { absent } from './find.ts'
import type { Download, RegistryOptions, ServedArchive } from './ports.ts'

/**
 * Names the module or provider for the log, and answers callers who may use it; to all others there is none. Who may use
 * what is said of its `metadata.name`, whatever name the address has.
 */
export function guard(
  c: Context<ServingEnv>,
  { catalog, mayRead }: RegistryOptions,
  subject: {
    readonly kind: ParentKind
    readonly namespace: string
    readonly name: string
    readonly system?: string
    readonly version?: string
  },
  answer: () => Response,
): Response | Promise<Response> {
  const { system, ...facts } = subject
  const { kind, namespace } = facts
  const name = catalog.parentAt(kind, namespace, facts.name, system)?.name ?? facts.name
  note(c, { ...facts, name })
  return after(mayRead?.(c, kind, namespace, name) ?? true, (may) => {
    if (!may) throw absent(kind, namespace, facts.name)
    return answer()
  })
}

const jsonHeaders = { 'Content-Type': 'application/json' }
const noSharedCache = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' }
const privateJsonHeaders = { ...jsonHeaders, ...noSharedCache }

/** Headers of JSON that callers may have to be allowed to see. */
export function jsonHeadersOf({
  answersDiffer,
}: RegistryOptions): Readonly<Record<string, string>> {
  return answersDiffer === true ? privateJsonHeaders : jsonHeaders
}

/** What an answer other than JSON adds to its headers, where callers may have to be allowed to see it. */
export function cacheHeadersOf({
  answersDiffer,
}: RegistryOptions): Readonly<Record<string, string>> {
  return answersDiffer === true ? noSharedCache : {}
}

/** Names an archive for the count of downloads. */
export function downloadOf(row: VersionRow): Download {
  const { kind, namespace, version, os, arch } = row
  return { kind, namespace, name: row.parent?.name ?? '', version, os, arch }
}

/** Names an archive to storage; the row must be downloadable. */
export function servedArchive(row: VersionRow): ServedArchive {
  return {
    location: row.location as ArchiveLocation,
    sha256: row.sha256 as string,
    label: {
      namespace: row.namespace,
      kind: row.kind,
      name: row.parent?.name ?? '',
      version: row.version,
    },
  }
}
