import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { JsonReader } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { Turns } from '../../base/pacing/pacing.ts'
import { type Entry, parseManifest } from './manifest-file.ts'
import { readText } from './read-text.ts'
import type { Rejection } from './rejections.ts'
import { signatureOf, walk } from './tree.ts'

/** What one file of manifests holds. */
export interface ReadManifest {
  /** As it was asked for, or below the folder that was. */
  readonly file: string
  readonly entries: readonly Entry[]
  readonly rejections: readonly Rejection[]
}

/**
 * Reads manifests once: a file, or every `*.yaml`, `*.yml` and `*.json` below a folder.
 *
 * @throws the error of the file system where there is nothing at this path
 */
export async function readManifests(path: string, apiGroup: string): Promise<ReadManifest[]> {
  const stats = await stat(path, { bigint: true })
  if (!stats.isDirectory()) return [await readOne(path, path, signatureOf(stats), apiGroup)]
  const { files, problems } = await walk(resolve(path))
  const read = [...problems].map(([file, error]) => unreadable(join(path, file), error))
  for (const [file, signature] of files) {
    read.push(await readOne(join(path, file), join(path, file), signature, apiGroup))
  }
  return read.toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

async function readOne(
  file: string,
  path: string,
  signature: string,
  apiGroup: string,
): Promise<ReadManifest> {
  try {
    const text = await readText(path, signature)
    if (text === undefined) throw new Error('changed while it was read')
    const options = { apiGroup, previous: undefined, json: new JsonReader(), turns: new Turns() }
    const { entries, rejections } = await parseManifest(file, text, options)
    return { file, entries, rejections }
  } catch (error) {
    return unreadable(file, error)
  }
}

function unreadable(file: string, error: unknown): ReadManifest {
  const message = messageOf(error)
  const rejection = { file, reason: 'Unreadable', kind: 'unknown', message } as const
  return { file, entries: [], rejections: [rejection] }
}
