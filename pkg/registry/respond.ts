import type { Context } from 'hono'
import type { ArchiveLocation } from '../apis/v1alpha1/v1alpha1.ts'
import type { VersionRow } from '../catalog/catalog.ts'
import { after, note, type ServingEnv } from '../serving/serving.ts'
import { absent } from './find.ts'
import type { Download, RegistryOptions, ServedArchive } from './ports.ts'

/** Names the module or provider for the log, and answers callers who may use it; to all others there is none. */
export function guard(
  c: Context<ServingEnv>,
  { mayRead }: RegistryOptions,
  subject: {
    readonly kind: 'Module' | 'Provider'
    readonly namespace: string
    readonly name: string
    readonly version?: string
  },
  answer: () => Response,
): Response | Promise<Response> {
  const { kind, namespace, name } = subject
  note(c, subject)
  return after(mayRead?.(c, kind, namespace, name) ?? true, (may) => {
    if (!may) throw absent(kind, namespace, name)
    return answer()
  })
}

const jsonHeaders = { 'Content-Type': 'application/json' }

/** Text as it is sent fastest, for answers that are kept: Node joins a short one with the headers, and encodes a long one. */
export function encodeOnce(text: string): string | Uint8Array {
  return text.length > longTextLength ? Buffer.from(text) : text
}

const longTextLength = 8192

/** A JSON answer from text that is ready. */
export function json(text: string | Uint8Array): Response {
  return new Response(text as string | Uint8Array<ArrayBuffer>, { headers: jsonHeaders })
}

/** Names an archive to whoever counts downloads. */
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
