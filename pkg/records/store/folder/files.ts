import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { apiVersionOf, isRecord, kinds } from '../../../api/v1alpha1/v1alpha1.ts'
import { ifExists } from '../../../base/errors/errors.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { changedAtMs, decodeText, idOf, parseYaml, type Scanner } from '../../folder/folder.ts'
import { ApiError } from '../../kube/kube.ts'
import { isReadmeOf, type ReadmeObject } from '../../readme/readme.ts'
import { record } from '../memory.ts'
import { encodedName, readmeFileOf, readmeTaken } from '../readme.ts'
import type { StoredRef } from '../types.ts'
import type { Fields, FiledSecret } from './object-rules.ts'
import { appended, readmePart, splitReadme } from './readme-part.ts'
import {
  asideOf,
  changed,
  commentsIn,
  hasObject,
  isBlank,
  isDamaged,
  removeFile,
  rewritten,
  textOf,
  writeFile,
} from './write-file.ts'

interface FilesOptions {
  readonly dir: string
  readonly apiGroup: string
  /** Time without changes after which a damaged file is no longer being written, in milliseconds. */
  readonly restMs: number
  readonly log: Logger
}

/**
 * Writes objects into files. Objects of this process are in separate files, a Version with its README. In files that a person
 * wrote, only changed fields are written, and the status is in a separate file.
 */
export class Files {
  readonly #dir: string
  readonly #apiGroup: string
  readonly #scanner: Scanner<Fields, FiledSecret>
  readonly #restMs: number
  readonly #log: Logger
  /** READMEs to write with their Versions. An empty text removes the README. */
  readonly #readmes = new Map<string, string>()

  constructor({ dir, apiGroup, restMs, log }: FilesOptions, scanner: Scanner<Fields, FiledSecret>) {
    this.#dir = dir
    this.#apiGroup = apiGroup
    this.#scanner = scanner
    this.#restMs = restMs
    this.#log = log
  }

  /** Whether sync created the file of an object, or the object has no file yet. */
  isOwn(ref: StoredRef): boolean {
    const { definitions } = this.#scanner
    const file = definitions.fileOf(ref)
    if (file === undefined) return definitions.get(idOf(ref)) === undefined
    if (file !== fileOf(ref) || this.#scanner.contentOf(file)?.entries.length !== 1) return false
    const { creationTimestamp } = record(definitions.get(idOf(ref))?.['metadata'])
    return typeof creationTimestamp === 'string' && definitions.statusFileOf(ref) === undefined
  }

  /** @throws ApiError Conflict if a person writes to the file at the same time; Forbidden, Unavailable */
  async write(ref: StoredRef, after: Fields): Promise<void> {
    const { definitions } = this.#scanner
    const before = definitions.get(idOf(ref))
    if (this.isOwn(ref)) return this.#writeOwn(ref, before, after)
    this.#readmes.delete(idOf(ref))
    const file = definitions.fileOf(ref)
    const { status, ...rest } = after
    const { status: statusBefore, ...restBefore } = before ?? {}
    if (file !== undefined && !isDeepStrictEqual(rest, restBefore)) {
      await this.#edit(file, ref, ({ status: written }) => ({
        ...rest,
        ...(written !== undefined && { status: written }),
      }))
    }
    if (!isDeepStrictEqual(status, statusBefore)) await this.#writeStatus(ref, status)
  }

  /** The state of the damaged file of an object; undefined if it is not damaged. */
  async damageOf(ref: StoredRef): Promise<string | undefined> {
    const { definitions } = this.#scanner
    const file = fileOf(ref)
    const content = this.#scanner.contentOf(file)
    if (content === undefined || hasObject(content)) return undefined
    const isElsewhere = (definitions.fileOf(ref) ?? file) !== file
    if (isElsewhere || definitions.statusFileOf(ref) !== undefined) return undefined
    if (!(await this.#scanner.isCurrent(file))) return undefined
    const isIt = isDamaged(await readFile(join(this.#dir, file)), content.rejections)
    return isIt ? this.#scanner.signatureOf(file) : undefined
  }

  /** Time until a damaged file counts as abandoned by its writer, in milliseconds. @param state from {@link damageOf} */
  restsInMs(state: string): number {
    const restsInMs = changedAtMs(state) + this.#restMs - Date.now()
    return Math.min(Math.max(restsInMs, 0), this.#restMs)
  }

  /**
   * Writes an object whose own file is damaged again. The damaged file gets a hidden name next to it, unless it is empty.
   *
   * @returns false if the file is not in this state
   */
  async mend(ref: StoredRef, value: Fields, state: string): Promise<boolean> {
    if ((await this.damageOf(ref)) !== state) return false
    const file = fileOf(ref)
    const read = decodeText(await readFile(join(this.#dir, file)))
    const text = textOf(withoutReadme(value))
    if ('text' in read && isBlank(read.text)) {
      await this.#put(file, `${commentsIn(read.text)}${text}`, read.text)
    } else await this.#writeAgain(file, text)
    return true
  }

  /** Replaces a damaged file, which gets a hidden name next to the new one. */
  async #writeAgain(file: string, text: string): Promise<void> {
    const aside = asideOf(this.#dir, file)
    const path = join(this.#dir, file)
    const identity = await writeFile(path, text, { aside: join(this.#dir, aside) })
    await this.#scanner.wrote(file, text, identity)
    // A single run prints no lines of a lower level.
    this.#log.error({ file, aside }, 'a damaged file was set aside and written again')
  }

  /** Removes an object from its file, and removes its separate status. */
  async remove(ref: StoredRef): Promise<void> {
    const { definitions } = this.#scanner
    if (ref.kind === 'Version') await this.writeReadme(ref, undefined)
    const file = definitions.fileOf(ref)
    if (file !== undefined) await this.#edit(file, ref, () => undefined)
    await this.removeStatus(ref)
    definitions.drop(ref)
    this.#readmes.delete(idOf(ref))
  }

  /**
   * Changes or removes the README of a Version. If sync made the Version, the README is written with the next write of its file,
   * unless it has a separate file already. The README of any other Version is in a separate file only.
   *
   * @param readme undefined if there is none
   * @throws ApiError Conflict if the file has something else
   */
  async writeReadme(version: StoredRef, readme: ReadmeObject | undefined): Promise<void> {
    const text = readme && textOf({ apiVersion: 'v1', ...readme })
    const current = await this.#textIn(readmeFileOf(version))
    if (current === undefined && this.isOwn(version)) {
      this.#readmes.set(idOf(version), readme ? readmePart(readme) : '')
      return
    }
    await this.#writeReadmeFile(version, text, current)
    this.#readmes.delete(idOf(version))
    // A person moved the Version, or an earlier release wrote the separate file.
    for (const { file: old } of await this.#filesWithReadme(version)) {
      const whole = await this.#textOf(old)
      const { rest } = this.#split(whole, version)
      await this.#put(old, isBlank(rest) ? undefined : rest, whole)
    }
  }

  async #writeReadmeFile(
    version: StoredRef,
    text: string | undefined,
    current: string | undefined,
  ): Promise<void> {
    const file = readmeFileOf(version)
    if (current !== undefined) {
      const parsed = parseYaml(current)
      const isOurs = parsed.ok && isReadmeOf(version, parsed.value, this.#apiGroup)
      if (!isOurs && text === undefined) return
      const { kind, data } = record(parsed.ok && parsed.value)
      const isCut = !parsed.ok || isBlank(current) || (kind === 'ConfigMap' && !isRecord(data))
      if (!isOurs && !isCut) throw readmeTaken(version)
      if (!isOurs && text !== undefined) return this.#writeAgain(file, text)
    }
    await this.#put(file, text, current)
  }

  /** Whether a Version has one README, with the whole text of each key. */
  async hasReadme(version: StoredRef, keys: readonly string[]): Promise<boolean> {
    const inFiles = (await this.#filesWithReadme(version)).map(({ readme }) => readme)
    const separate = await this.#textIn(readmeFileOf(version))
    const [text = '', ...more] = separate === undefined ? inFiles : [...inFiles, separate]
    const { data } = record(parseYaml(text).value)
    // Each text is one line of the file.
    const isWhole = more.length === 0 && text.endsWith('\n')
    return isWhole && keys.every((key) => Boolean(record(data)[key]))
  }

  /** The files that have the README of a Version among their documents. */
  async #filesWithReadme(version: StoredRef): Promise<{ file: string; readme: string }[]> {
    const own = fileOf(version)
    const found = []
    for (const file of new Set([own, this.#scanner.definitions.fileOf(version) ?? own])) {
      const { readme } = this.#split((await this.#textIn(file)) ?? '', version)
      if (readme !== '') found.push({ file, readme })
    }
    return found
  }

  /** @returns undefined if the file does not exist */
  #textIn(file: string): Promise<string | undefined> {
    return ifExists(readFile(join(this.#dir, file), 'utf8'))
  }

  #split(text: string, ref: StoredRef): ReturnType<typeof splitReadme> {
    return splitReadme(text, ref, this.#apiGroup)
  }

  async removeStatus(ref: StoredRef): Promise<void> {
    const file = this.#scanner.definitions.statusFileOf(ref)
    if (file !== undefined) await this.#edit(file, ref, () => undefined)
  }

  async #writeOwn(ref: StoredRef, before: Fields | undefined, after: Fields): Promise<void> {
    const file = fileOf(ref)
    const isFiled = this.#scanner.definitions.fileOf(ref) !== undefined
    if (!isFiled && !existsSync(join(this.#dir, file))) {
      return this.#putOwn(ref, textOf(after), undefined)
    }
    const current = await this.#textOf(file)
    const { rest, readme } = this.#split(current, ref)
    if (!isFiled) {
      const content = this.#scanner.contentOf(file)
      const isOfPerson = content?.entries.length === 0 && content.rejections.length === 0
      if (isBlank(rest)) return this.#putOwn(ref, `${commentsIn(rest)}${textOf(after)}`, current)
      if (isOfPerson) return this.#putOwn(ref, appended(rest, `---\n${textOf(after)}`), current)
      const message = `${file} cannot be read: correct it, or remove it to have it written again`
      throw new ApiError('Conflict', message)
    }
    // A person may have added a comment or a document.
    const isUntouched = rest === textOf(before)
    const text = isUntouched
      ? `${textOf(after)}${readme}`
      : rewritten(file, current, this.#is(ref), () => after)
    await this.#putOwn(ref, text, current)
  }

  async #putOwn(
    ref: StoredRef,
    text: string | undefined,
    current: string | undefined,
  ): Promise<void> {
    await this.#put(fileOf(ref), text && this.#withReadme(ref, text), current)
    this.#readmes.delete(idOf(ref))
  }

  /** The text of a file with the README that is to be written with it. */
  #withReadme(ref: StoredRef, text: string): string {
    const readme = this.#readmes.get(idOf(ref))
    return readme === undefined ? text : appended(this.#split(text, ref).rest, readme)
  }

  async #writeStatus(ref: StoredRef, status: unknown): Promise<void> {
    const { kind, namespace, name } = ref
    const apiVersion = apiVersionOf(kind, this.#apiGroup)
    const value = { apiVersion, kind, metadata: { name, namespace }, status }
    const known = this.#scanner.definitions.statusFileOf(ref)
    if (known === undefined) return this.#put(this.#freeName(ref), textOf(value), undefined)
    const current = await this.#textOf(known)
    const isAlone = this.#scanner.contentOf(known)?.entries.length === 1
    const text = isAlone ? textOf(value) : rewritten(known, current, this.#is(ref), () => value)
    await this.#put(known, text, current)
  }

  /** Next to the file of the object. Objects of other kinds and namespaces may have the same name there. */
  #freeName(ref: StoredRef): string {
    const folder = dirname(this.#scanner.definitions.fileOf(ref) ?? '')
    const [kind, namespace, name] = [ref.kind.toLowerCase(), ref.namespace, ref.name].map(
      encodedName,
    )
    const names = [`${name}`, `${name}.${kind}`, `${name}.${kind}.${namespace}`]
    const files = names.map((one) => join(folder, `${one}.status.yaml`))
    const free = files.find((file) => !existsSync(join(this.#dir, file)))
    if (free !== undefined) return free
    throw changed(files.at(-1) ?? '')
  }

  async #edit(
    file: string,
    ref: StoredRef,
    change: (before: Fields) => Fields | undefined,
  ): Promise<void> {
    const current = await this.#textOf(file)
    const whole = this.#withReadme(ref, current)
    await this.#put(file, rewritten(file, whole, this.#is(ref), change), current)
  }

  async #put(file: string, text: string | undefined, current: string | undefined): Promise<void> {
    const path = join(this.#dir, file)
    if (text === current) return
    if (text !== undefined) {
      await this.#scanner.wrote(file, text, await writeFile(path, text, { expected: current }))
    } else if (current !== undefined) {
      removeFile(path, current)
      await this.#scanner.wrote(file, undefined)
    }
  }

  /** @throws ApiError Conflict if the file was replaced since it was read */
  async #textOf(file: string): Promise<string> {
    try {
      const read = decodeText(await readFile(join(this.#dir, file)))
      if ('text' in read && (await this.#scanner.isCurrent(file))) return read.text
    } catch (error) {
      throw changed(file, error)
    }
    throw changed(file)
  }

  #is({ kind, namespace, name }: StoredRef): (value: Fields) => boolean {
    const apiVersion = apiVersionOf(kind, this.#apiGroup)
    return (value) => {
      const metadata = record(value['metadata'])
      return (
        value['kind'] === kind &&
        value['apiVersion'] === apiVersion &&
        metadata['name'] === name &&
        (metadata['namespace'] ?? 'default') === namespace
      )
    }
  }
}

/** The file of an object that sync creates. The name is unique, even if the object has special characters. */
function fileOf({ kind, namespace, name }: StoredRef): string {
  return `${kinds[kind].plural}/${encodedName(namespace)}/${encodedName(name)}.yaml`
}

/** An object whose README was lost with its file: an empty digest asks for the README again. */
function withoutReadme(value: Fields): Fields {
  const status = record(value['status'])
  if (status['readmeDocs'] === undefined) return value
  return { ...value, status: { ...status, readmeDocs: '' } }
}
