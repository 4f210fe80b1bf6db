/** The READMEs of module versions: how a ConfigMap holds them, who may show them, and how pages read them from memory. */

import { hash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { apiVersionOf, interfaceKey, isRecord } from '../../api/v1alpha1/v1alpha1.ts'

/** READMEs in memory, from a cluster or a folder. */
export interface Readmes {
  /** Counts changes that may affect `get`. */
  readonly revision: number
  /**
   * The README of a Version as text; undefined if there is none, it has not arrived, or it belongs to another. Never waits.
   */
  get(namespace: string, configMap: string, key: string, version: string): string | undefined
  /** Notes that the README of a module moved to another ConfigMap. */
  note(namespace: string, now: ConfigMapName | undefined, before: ConfigMapName | undefined): void
}

interface ConfigMapName {
  readonly name: string
}

export interface Readme {
  /** Names of the Versions that own it; undefined if its label says that every Version may show it. */
  readonly owners: ReadonlySet<string> | undefined
  /** The README of each key, compressed. */
  readonly texts: ReadonlyMap<string, Buffer>
}

/** Texts in the ConfigMap of a Version. */
export interface ReadmeTexts {
  readonly readme?: string | undefined
  /** JSON of at most `maxInterfaceBytes`. */
  readonly interface?: string | undefined
}

const key = 'README.md'
const maxNameLength = 253
/** Encoded as base64, this is less than the megabyte of a ConfigMap. */
const maxBytes = 512 * 1024
/** Encoded next to the longest README, this still fits. */
export const maxInterfaceBytes = 255 * 1024
/** Limit of an unpacked README. A ConfigMap has at most one megabyte. */
const maxTextBytes = 4 * 1024 * 1024

export const readmeLabel = (apiGroup: string): string => `${apiGroup}/readme`

/** @param decode decodes a value of its data */
export function readmeIn(
  configMap: object,
  apiGroup: string,
  decode: (value: string) => Buffer,
): Readme {
  const { isLabelled, owners, data } = partsOf(configMap, apiGroup)
  const texts = new Map<string, Buffer>()
  for (const [name, value] of Object.entries(data)) {
    if (typeof value !== 'string' || name === interfaceKey) continue
    texts.set(name, deflateRawSync(decode(value), { level: 3 }))
  }
  const names = owners.filter(isVersionOf(apiGroup)).map(({ name }) => String(name))
  return { owners: isLabelled ? undefined : new Set(names), texts }
}

function partsOf(configMap: unknown, apiGroup: string) {
  const { metadata, data } = isRecord(configMap) ? configMap : {}
  const { labels, ownerReferences } = isRecord(metadata) ? metadata : {}
  return {
    isLabelled: isRecord(labels) && labels[readmeLabel(apiGroup)] !== undefined,
    owners: (Array.isArray(ownerReferences) ? ownerReferences : []).filter(isRecord),
    data: isRecord(data) ? data : {},
  }
}

const isVersionOf =
  (apiGroup: string) =>
  // A file may omit the version of the API.
  ({ kind, name, apiVersion = `${apiGroup}/` }: Readonly<Record<string, unknown>>): boolean =>
    kind === 'Version' && typeof name === 'string' && String(apiVersion).startsWith(`${apiGroup}/`)

/**
 * The README as text; undefined if there is none, or if its ConfigMap neither has the README label nor is owned by the
 * Version. Otherwise, a user who may write a Version could show the content of any ConfigMap.
 */
export function readmeText(readme: Readme, name: string, version: string): string | undefined {
  if (readme.owners?.has(version) === false) return undefined
  const text = readme.texts.get(name)
  return text && inflateRawSync(text, { maxOutputLength: maxTextBytes }).toString()
}

/** The ConfigMap with the README of a Version, and the key in its data. */
export function readmeRefOf({ name }: ConfigMapName) {
  const whole = `${name}-readme`
  if (whole.length <= maxNameLength) return { name: whole, key }
  const stem = name.slice(0, 230).replace(/[.-]+$/, '')
  return { name: `${stem}-${hash('sha256', name).slice(0, 12)}-readme`, key }
}

export type ReadmeObject = ReturnType<typeof readmeObject>

/** The ConfigMap of a README, owned by its Version and with the label that servers watch. */
export function readmeObject(
  { namespace, name, uid }: Readonly<Record<'namespace' | 'name' | 'uid', string>>,
  { readme, interface: json }: ReadmeTexts,
  apiGroup: string,
) {
  const ref = readmeRefOf({ name })
  const apiVersion = apiVersionOf('Version', apiGroup)
  return {
    kind: 'ConfigMap',
    metadata: {
      name: ref.name,
      namespace,
      labels: { [readmeLabel(apiGroup)]: 'true' },
      ownerReferences: [{ apiVersion, kind: 'Version', name, uid }],
    },
    data: {
      ...(json !== undefined && { [interfaceKey]: Buffer.from(json).toString('base64') }),
      ...(readme !== undefined && { [ref.key]: encoded(readme) }),
    },
  } as const
}

/** Whether a ConfigMap is the README of a Version: owned by it, or without an owner, as after a restore. */
export function isReadmeOf({ name }: ConfigMapName, found: unknown, apiGroup: string): boolean {
  const { isLabelled, owners } = partsOf(found, apiGroup)
  if (owners.length === 0) return isLabelled
  return owners.some((owner) => owner['kind'] === 'Version' && owner['name'] === name)
}

/** Readers of folders parse shorter values as plain text. */
const minBytes = 6

function encoded(text: string): string {
  const bytes = Buffer.from(text.padEnd(minBytes, '\n'))
  if (bytes.length <= maxBytes) return bytes.toString('base64')
  // Drops a character that was cut at the end.
  const start = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
  const note = `\n\n*The rest of this README is left out: it has more than ${maxBytes / 1024} KiB.*\n`
  return Buffer.from(start + note).toString('base64')
}
