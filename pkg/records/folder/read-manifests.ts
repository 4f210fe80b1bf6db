import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { JsonReader, type Resource } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { Turns } from '../../base/pacing/pacing.ts'
import { idOf } from './definitions.ts'
import { type Keeper, resourceKeeper } from './keeper.ts'
import { type Entry, parseManifest } from './manifest-file.ts'
import type { Rejection } from './rejections.ts'
import { readText, signatureOf, walk } from './tree.ts'

/** The contents of one file of manifests. */
export interface ReadManifest<O = Resource> {
  /** As requested, or below the requested folder. */
  readonly file: string
  readonly entries: readonly Entry<O>[]
  readonly rejections: readonly Rejection[]
}

/**
 * Reads manifests once: a file, or every `*.yaml`, `*.yml` and `*.json` below a folder. Objects get their statuses from
 * separate files.
 *
 * @throws the error of the file system if there is nothing at this path
 */
export function readManifests(path: string, apiGroup: string): Promise<ReadManifest[]> {
  return readKept(path, apiGroup, resourceKeeper(new JsonReader()))
}

/** Reads manifests once, and keeps what a keeper keeps of each object. @throws the error of the file system */
export async function readKept<O>(
  path: string,
  apiGroup: string,
  keeper: Keeper<O, unknown>,
): Promise<ReadManifest<O>[]> {
  const stats = await stat(path, { bigint: true })
  const readOne = (file: string, signature: string) => read(file, signature, { apiGroup, keeper })
  if (!stats.isDirectory()) return [await readOne(path, signatureOf(stats))]
  const { files, problems } = await walk(resolve(path))
  const all: ReadManifest<O>[] = [...problems].map(([file, error]) =>
    unreadable(join(path, file), error),
  )
  for (const [file, signature] of files) all.push(await readOne(join(path, file), signature))
  return withStatuses(
    all.toSorted((a, b) => (a.file < b.file ? -1 : 1)),
    keeper,
  )
}

async function read<O>(
  file: string,
  signature: string,
  options: { readonly apiGroup: string; readonly keeper: Keeper<O, unknown> },
): Promise<ReadManifest<O>> {
  try {
    const text = await readText(file, signature)
    if (text === undefined) throw new Error('changed while it was read')
    const { entries, rejections } = await parseManifest(file, text, {
      ...options,
      keepWritten: true,
      turns: new Turns(),
    })
    return { file, entries, rejections }
  } catch (error) {
    return unreadable(file, error)
  }
}

function withStatuses<O>(
  all: readonly ReadManifest<O>[],
  keeper: Keeper<O, unknown>,
): ReadManifest<O>[] {
  const entries = all.flatMap((one) => one.entries)
  // The first of two statuses counts.
  const statuses = new Map(
    entries
      .toReversed()
      .flatMap(({ key, status }) => (status === undefined ? [] : [[idOf(key), status]])),
  )
  const whole = (entry: Entry<O>): Entry<O> => {
    const status = statuses.get(idOf(entry.key))
    const { object } = entry
    if (status === undefined || object === undefined) return entry
    return { ...entry, object: keeper.withStatus(object, status) }
  }
  return all.map((one) => ({ ...one, entries: one.entries.map(whole) }))
}

function unreadable(file: string, error: unknown): ReadManifest<never> {
  const message = messageOf(error)
  const rejection = { file, reason: 'Unreadable', kind: 'unknown', message } as const
  return { file, entries: [], rejections: [rejection] }
}
