import { type Context, Hono } from 'hono'
import * as z from 'zod'
import type { PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { providerFileName } from '../../archives/archive/archive.ts'
import { badRequest, hasReason, jsonOf } from '../../base/errors/errors.ts'
import {
  awaitUpload,
  awaitWork,
  note,
  requestText,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import { FillError, type Platform } from '../sources/sources.ts'
import { answer, counted, Refused } from './answers.ts'
import { backRefused } from './plan.ts'
import { planProvider, publishProvider, refusalsOf } from './provider.ts'
import { type PublishParts, requireRight } from './publish-parts.ts'
import { sidecarNames } from './release.ts'
import { type StagedKey, Staging } from './staging.ts'
import {
  conflictOf,
  grantedPlace,
  parseProviderAddress,
  platformsOf,
  platformText,
  publishedAs,
  type Target,
  targetOf,
} from './target.ts'
import { served } from './unfinished.ts'
import { announcedBody, archiveTypes, receive } from './upload.ts'

const root = '/depot/publish/v1/providers/:namespace/:type/:version'
const filePath = `${root}/:file` as const
const finishPath = `${root}/finish` as const
const maxSidecarBytes = 1024 * 1024
const maxListBytes = 256 * 1024

const Listed = z.object({
  files: z.record(z.string().max(256), z.string().regex(/^[0-9a-f]{64}$/)),
})

type PutFileContext = Context<ServingEnv, typeof filePath>
type FinishContext = Context<ServingEnv, typeof root>

/** Digests of files by their names. */
type AskedFiles = Readonly<Record<string, string>>

interface Finishing {
  /** Undefined: those that are here. */
  readonly asked: AskedFiles | undefined
  /** Folder of the files that are here; undefined if there are none. */
  readonly folder: string | undefined
}

/** A version of a provider, and the caller who sends it. */
interface Subject {
  readonly publisher: PublishedBy
  readonly target: Target
  readonly key: StagedKey
}

/** `PUT` of each file of a release, and `POST` of `finish`, which publishes all of them or none. */
export function providerRoutes(parts: PublishParts): Hono<ServingEnv> {
  const endpoint = new ProviderEndpoint(parts)
  const finish = (c: FinishContext) => endpoint.finish(c)
  const put = (c: PutFileContext) => endpoint.put(c)
  return new Hono<ServingEnv>()
    .post(finishPath, counted('Provider', parts, finish))
    .put(filePath, counted('Provider', parts, put))
}

class ProviderEndpoint {
  readonly #parts: PublishParts
  readonly #staging: Staging

  constructor(parts: PublishParts) {
    this.#parts = parts
    this.#staging = new Staging(parts.spool)
  }

  async put(c: PutFileContext): Promise<Response> {
    const { limits, mibMs, metrics } = this.#parts
    const { target, key } = await this.#subjectOf(c, filePath, c.req.param())
    const { file, platform } = fileOf(c.req.param('file'), target.address.name, target.version)
    const types = platform === undefined ? undefined : archiveTypes
    const maxBytes = platform === undefined ? maxSidecarBytes : limits.provider.packedBytes
    const announced = announcedBody(c, { types, maxBytes })
    const { sha256 } = announced
    if (platform !== undefined) refuseEarly(target, { sha256, platform })
    const staged = { outcome: 'staged', file, sha256 }
    if (this.#staging.filesOf(key).get(file) === sha256) return answer(200, staged)
    awaitUpload(c)
    const { signal } = c.req.raw
    await using upload = await this.#staging.begin(key, file, announced, { maxBytes, signal })
    const bounds = { maxBytes: upload.maxBytes, mibMs }
    metrics.received('Provider', await receive(c.req.raw, upload.space, announced, bounds))
    await upload.keep(sha256)
    return answer(201, staged)
  }

  async finish(c: FinishContext): Promise<Response> {
    const subject = await this.#subjectOf(c, finishPath, c.req.param())
    const asked = listIn(await requestText(c.req.raw, maxListBytes))
    awaitWork(c)
    const { key } = subject
    return await this.#staging.inTurn(key, async (folder) => {
      try {
        return await this.#publish(c, subject, { asked, folder })
      } catch (error) {
        if (isFinal(error)) await this.#staging.drop(key)
        throw error
      }
    })
  }

  async #subjectOf(
    c: Context<ServingEnv>,
    route: string,
    { namespace, type, version }: Readonly<Record<'namespace' | 'type' | 'version', string>>,
  ): Promise<Subject> {
    note(c, { route, namespace, kind: 'Provider', name: type, version })
    const address = parseProviderAddress(`${namespace}/${type}`)
    if (address === undefined) {
      throw badRequest('the path has no address of a provider: write NAMESPACE/TYPE/VERSION')
    }
    const publisher = await requireRight(this.#parts, c, address)
    const target = targetOf(this.#parts.objects, address, version, {})
    grantedPlace(this.#parts, target)
    const caller = c.env.facts?.callerHash
    if (caller === undefined) throw new TypeError('the right to publish was given to nobody')
    return { publisher, target, key: { caller, version: `${namespace}/${type}/${target.version}` } }
  }

  /** Publishes the files that the caller asks for, if all of them are here. */
  async #publish(
    c: FinishContext,
    subject: Subject,
    { asked, folder }: Finishing,
  ): Promise<Response> {
    const startMs = performance.now()
    const { objects, clock, metrics } = this.#parts
    const { publisher, target, key } = subject
    const listed = asked === undefined ? this.#staging.filesOf(key) : named(asked, target)
    const zips = zipsIn(listed, target)
    const early = zips.length === 0 ? [] : refusalsOf({ objects, publisher, clock }, target, zips)
    if (early.length > 0) throw new Refused(early)
    const staged = this.#staging.filesOf(key)
    const missing = [...listed].flatMap(([name, sha]) => (staged.get(name) === sha ? [] : [name]))
    if (missing.length > 0 && isPublished(target, zips)) {
      metrics.ended('Provider', 'exists', startMs)
      return answer(200, bodyOf('exists', target, zips))
    }
    if (folder === undefined || zips.length === 0 || missing.length > 0) {
      return incomplete(target, missing)
    }
    for (const name of staged.keys()) if (!listed.has(name)) await this.#staging.remove(key, name)
    return await this.#publishFolder(c, subject, { folder, zips, startMs })
  }

  async #publishFolder(
    c: FinishContext,
    { publisher, target, key }: Subject,
    { folder, zips, startMs }: WholeRelease,
  ): Promise<Response> {
    const { objects, archives, limits, clock, metrics, log } = this.#parts
    const { signal } = c.req.raw
    const shared = { objects, archives, limits: limits.provider, clock }
    const context = { ...shared, signal, workDir: folder, publisher }
    const { address, version } = target
    const release = { folder, shownAs: 'the release', address, version, storage: undefined }
    const publication = await planProvider(context, release)
    const { refusals, signer } = publication
    if (refusals.length > 0) throw new Refused(refusals)
    const outcome = await publishProvider(context, publication)
    metrics.ended('Provider', outcome, startMs)
    await this.#staging.drop(key)
    const { namespace, name } = address
    const { callerHash } = c.env.facts ?? {}
    const platforms = zips.map(({ platform }) => platformText(platform))
    log.info(
      { namespace, name, version, platforms, outcome, signer, callerHash, ...publisher },
      'provider published',
    )
    const body = bodyOf(outcome, target, publication.archives)
    return answer(outcome === 'published' ? 201 : 200, { ...body, signer })
  }
}

/** Refuses before a zip is sent what its content does not change. @throws FillError */
function refuseEarly(
  target: Target,
  zip: { readonly sha256: string; readonly platform: Platform },
): void {
  const known = served(target)
  const isBegun = known.siblings((one) => one === target.version).length > 0
  const refusal = isBegun ? conflictOf(known, zip) : backRefused(known)
  if (refusal !== undefined) throw refusal
}

/** Whether these files can never be published, whatever is sent with them. */
function isFinal(error: unknown): boolean {
  const errors = error instanceof Refused ? error.errors : [error]
  return errors.some((one) => hasReason(one, 'VersionExists') || hasReason(one, 'OlderVersion'))
}

/** Reads the name of a file of the release: that of GoReleaser, or its end. @throws FillError */
function fileOf(name: string, type: string, version: string) {
  const sidecar = sidecarNames(type, version).find(
    (full) => full === name || full.endsWith(`_${name}`),
  )
  if (sidecar !== undefined) return { file: sidecar, platform: undefined }
  const zip = providerFileName(name)
  if (zip?.type === type && zip.version === version) {
    return { file: name, platform: { os: zip.os, arch: zip.arch } }
  }
  throw new FillError(
    'NoProviderInArchive',
    `${name} is not a file of this release: send terraform-provider-${type}_${version}_OS_ARCH.zip, SHA256SUMS, SHA256SUMS.sig and manifest.json`,
  )
}

/** @throws RegistryError */
function listIn(text: string): AskedFiles | undefined {
  if (text === '') return undefined
  const list = Listed.safeParse(jsonOf(text)).data
  if (list !== undefined) return list.files
  throw badRequest(
    'the body must be empty, or {"files": {"NAME": "SHA-256 in hexadecimal"}} of every file of the release',
  )
}

const named = (files: AskedFiles, { address, version }: Target) =>
  new Map(
    Object.entries(files).map(([name, sha256]) => [
      fileOf(name, address.name, version).file,
      sha256,
    ]),
  )

const zipsIn = (files: ReadonlyMap<string, string>, { address, version }: Target) =>
  Array.from(files, ([name, sha256]) => ({
    sha256,
    ...fileOf(name, address.name, version),
  })).flatMap(({ platform, sha256 }) =>
    platform === undefined ? [] : [{ platform, file: { sha256 } }],
  )

type Zips = Readonly<ReturnType<typeof zipsIn>>

/** A release of which every file is here. */
interface WholeRelease {
  readonly folder: string
  /** In the order in which the caller named them. */
  readonly zips: Zips
  /** When the publication began, on the clock of `performance.now()`. */
  readonly startMs: number
}

const isPublished = (target: Target, zips: Zips): boolean =>
  zips.length > 0 &&
  zips.every(({ platform, file: { sha256 } }) => publishedAs(served(target), { platform, sha256 }))

const bodyOf = (outcome: string, { address, version }: Target, zips: Zips) => ({
  outcome,
  address,
  version,
  archives: zips.map(({ platform, file: { sha256 } }) => ({ ...platform, sha256 })),
})

/** Another replica may have them, or an hour has passed, or the controller was started again. */
function incomplete(target: Target, missing: readonly string[]): Response {
  const { version } = target
  const what = missing.length > 0 ? missing.join(', ') : 'every zip'
  const there = platformsOf(served(target))
  const message =
    missing.length === 0 && there.length > 0
      ? `${version} is published with ${there.join(', ')}, and the controller has no zip of it: if these are all platforms of the release, it is complete. Otherwise, send every file, and finish again`
      : `${version} cannot be published yet, because these files did not arrive: ${what}. Send them, and finish again`
  const refusals = [{ reason: 'FilesMissing', message }]
  return answer(409, { errors: [message], refusals, missing })
}
