import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { apiVersionOf, formatPath, parseResource } from '../../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../../base/errors/errors.ts'
import { Turns } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { decodeText, readText, walk } from '../../folder/folder.ts'
import { objectKinds } from '../memory.ts'
import type { ObjectKind } from '../types.ts'
import { record } from '../whole-object.ts'
import { type PlacedObject, placedObjects } from './text.ts'

/** An object of a file. */
export interface FiledObject extends PlacedObject {
  readonly kind: ObjectKind
  readonly namespace: string
  readonly name: string
  /** Below the folder. */
  readonly file: string
}

/** A Secret of a file. */
interface FiledSecret {
  readonly namespace: string
  readonly name: string
  readonly values: Readonly<Record<string, Buffer>>
}

export interface ManifestText {
  readonly signature: string
  /** Of the text. */
  readonly digest: string
  readonly objects: readonly FiledObject[]
  readonly secrets: readonly FiledSecret[]
  /** Whether something in it could not be read, and so may be any object. */
  readonly isBroken: boolean
}

/** What the files of a folder hold, by path. Files that did not change are not read again. */
export class Files {
  readonly #dir: string
  readonly #apiGroup: string
  readonly #log: Logger
  #files = new Map<string, ManifestText>()

  constructor({ dir, apiGroup, log }: { dir: string; apiGroup: string; log: Logger }) {
    this.#dir = dir
    this.#apiGroup = apiGroup
    this.#log = log
  }

  get all(): ReadonlyMap<string, ManifestText> {
    return this.#files
  }

  /** Looks at the whole folder. @throws the error of the file system where it cannot be read */
  async scan(): Promise<void> {
    const { files, problems } = await walk(this.#dir)
    const found = new Map<string, ManifestText>()
    const turns = new Turns()
    for (const [file, error] of problems) {
      this.#log.warn({ file, error: messageOf(error) }, 'file cannot be read')
      found.set(file, { ...this.#before(file), signature: '', isBroken: true })
    }
    for (const [file, signature] of files) {
      const before = this.#files.get(file)
      found.set(file, before?.signature === signature ? before : await this.#read(file, signature))
      await turns.yieldIfDue()
    }
    this.#files = found
  }

  /**
   * The text of a file, where it is still the one that was scanned.
   *
   * @returns undefined where it changed or is gone
   */
  async textOf(file: string): Promise<string | undefined> {
    try {
      const read = decodeText(await readFile(join(this.#dir, file)))
      if (!('text' in read)) return undefined
      return digestOf(read.text) === this.#files.get(file)?.digest ? read.text : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Takes in what this process wrote.
   *
   * @param object all that is in it; default: what is found by reading it
   */
  wrote(file: string, text: string | undefined, object?: FiledObject): void {
    if (text === undefined) this.#files.delete(file)
    // The next scan sees another signature, reads it once more, and finds the same.
    else if (object === undefined) this.#files.set(file, this.#parse(file, text, ''))
    else {
      const found = { objects: [object], secrets: [], isBroken: false }
      this.#files.set(file, { signature: '', digest: digestOf(text), ...found })
    }
  }

  #before(file: string): Omit<ManifestText, 'signature'> {
    return this.#files.get(file) ?? { digest: '', objects: [], secrets: [], isBroken: true }
  }

  async #read(file: string, signature: string): Promise<ManifestText> {
    const read = await readText(join(this.#dir, file), signature).catch((error: unknown) => {
      return { problem: messageOf(error) }
    })
    // It changes now: the next scan sees to it.
    if (read === undefined) return { ...this.#before(file), signature: '' }
    if ('text' in read) return this.#parse(file, read.text, signature)
    this.#log.warn({ file, error: read.problem }, 'file cannot be read')
    return { ...this.#before(file), signature, isBroken: true }
  }

  #parse(file: string, text: string, signature: string): ManifestText {
    const { objects: placed, broken } = placedObjects(file, text)
    if (broken !== undefined) this.#log.warn({ file, error: broken }, 'file has a mistake')
    let isBroken = broken !== undefined
    const objects: FiledObject[] = []
    for (const object of placed) {
      const filed = this.#filed(file, object)
      if (filed === 'rejected') isBroken = true
      else if (filed !== undefined) objects.push(filed)
    }
    const secrets = placed.flatMap(({ value }) => secretOf(value))
    // What a broken file held stays what it was.
    const kept = isBroken ? this.#before(file).objects.filter((it) => !objects.some(same(it))) : []
    return { signature, digest: digestOf(text), objects: [...objects, ...kept], secrets, isBroken }
  }

  #filed(file: string, placed: PlacedObject): FiledObject | 'rejected' | undefined {
    const { value } = placed
    const kind = objectKinds.find((it) => it === value['kind'])
    if (kind === undefined || value['apiVersion'] !== apiVersionOf(kind, this.#apiGroup)) {
      return undefined
    }
    const parsed = parseResource(kind, value)
    if (!parsed.ok) {
      const [issue] = parsed.issues
      const field = formatPath(issue?.path ?? [])
      this.#log.warn({ file, kind, field, error: issue?.message }, 'object rejected')
      return 'rejected'
    }
    const { namespace, name } = parsed.resource.metadata
    return { ...placed, kind, namespace, name, file }
  }
}

function same(one: FiledObject): (other: FiledObject) => boolean {
  return ({ kind, namespace, name }) =>
    kind === one.kind && namespace === one.namespace && name === one.name
}

function secretOf(value: Readonly<Record<string, unknown>>): FiledSecret[] {
  if (value['apiVersion'] !== 'v1' || value['kind'] !== 'Secret') return []
  const { name, namespace = 'default' } = record(value['metadata'])
  if (typeof name !== 'string' || typeof namespace !== 'string') return []
  const texts = (field: string) =>
    Object.entries(record(value[field])).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
  const values = {
    ...Object.fromEntries(texts('data').map(([key, it]) => [key, Buffer.from(it, 'base64')])),
    ...Object.fromEntries(texts('stringData').map(([key, it]) => [key, Buffer.from(it)])),
  }
  return [{ namespace, name, values }]
}

function digestOf(text: string): string {
  return hash('sha256', text)
}
