/** Reads the READMEs in a ConfigMap of a cluster or a folder, and keeps them compressed. */

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { interfaceKey, isRecord } from '../../api/v1alpha1/v1alpha1.ts'

export interface Readme {
  /** Names of the Versions that own it; undefined if its label says that every Version may show it. */
  readonly owners: ReadonlySet<string> | undefined
  /** The README of each key, compressed. */
  readonly texts: ReadonlyMap<string, Buffer>
}

/** Limit of an unpacked README. A ConfigMap has at most one megabyte. */
const maxTextBytes = 4 * 1024 * 1024

/** @param decode decodes a value of its data */
export function readmeIn(
  configMap: object,
  apiGroup: string,
  decode: (value: string) => Buffer,
): Readme {
  const { metadata, data } = configMap as { readonly metadata?: unknown; readonly data?: unknown }
  const { labels, ownerReferences } = isRecord(metadata) ? metadata : {}
  const isLabelled = isRecord(labels) && labels[`${apiGroup}/readme`] !== undefined
  const texts = new Map<string, Buffer>()
  for (const [key, value] of Object.entries(isRecord(data) ? data : {})) {
    if (typeof value !== 'string' || key === interfaceKey) continue
    texts.set(key, deflateRawSync(decode(value), { level: 3 }))
  }
  return { owners: isLabelled ? undefined : ownersIn(ownerReferences, apiGroup), texts }
}

function ownersIn(references: unknown, apiGroup: string): ReadonlySet<string> {
  const owners = new Set<string>()
  for (const owner of Array.isArray(references) ? references : []) {
    if (!isRecord(owner) || owner['kind'] !== 'Version') continue
    // A file may omit it.
    const { name, apiVersion = `${apiGroup}/` } = owner
    const isOurs = typeof apiVersion === 'string' && apiVersion.startsWith(`${apiGroup}/`)
    if (isOurs && typeof name === 'string') owners.add(name)
  }
  return owners
}

/**
 * The README as text; undefined if there is none, or if its ConfigMap neither has the README label nor is owned by the
 * Version. Otherwise, a user who may write a Version could show the content of any ConfigMap.
 */
export function readmeText(readme: Readme, key: string, version: string): string | undefined {
  if (readme.owners?.has(version) === false) return undefined
  const text = readme.texts.get(key)
  return text && inflateRawSync(text, { maxOutputLength: maxTextBytes }).toString()
}
