import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Context, Hono } from 'hono'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { ArchiveError, type LimitsByKind } from '../../archives/archive/archive.ts'
import type { Spool } from '../../archives/spool/spool.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import { type Reason, type ReasonError, RegistryError } from '../../base/errors/errors.ts'
import { awaitUpload, note, type ServingEnv } from '../../base/serving/serving.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { Objects } from '../../records/store/store.ts'
import { parentNames } from '../importing/importing.ts'
import { FillError } from '../sources/sources.ts'
import { planPublication } from './plan.ts'
import { publish } from './publish.ts'
import { claimsOf, type PublishAddress, parseModuleAddress } from './target.ts'
import { type UploadSpace, UploadSpaces } from './upload-space.ts'

export interface PublishRoutesOptions {
  readonly objects: Objects
  readonly archives: ArchiveStore
  readonly spool: Spool
  readonly limits: LimitsByKind
  readonly log: Logger
  /** How long each MiB of a body may take to arrive, in milliseconds. Default: 60000. */
  readonly mibMs?: number
  /**
   * Whether the caller may write Versions of a module or provider.
   *
   * @param name metadata.name
   * @throws RegistryError where the caller is unknown
   */
  readonly mayPublish: (
    c: Context<ServingEnv>,
    kind: ParentKind,
    namespace: string,
    name: string,
  ) => boolean | Promise<boolean>
}

const path = '/depot/publish/v1/modules/:namespace/:name/:system/:version'
const types = ['zip', 'gzip', 'x-gzip', 'x-tar', 'octet-stream']
/** The status of a refusal. The others are 422: the archive has to change. */
const statusOfReason: Partial<Record<Reason, 404 | 409 | 413>> = {
  NoParent: 404,
  VersionExists: 409,
  NoStorage: 409,
  StorageNotGranted: 409,
  ArchiveTooLarge: 413,
}

/** `PUT` of a module's archive. It is published when the answer says so, and not at all before the archive is stored. */
export function publishRoutes(options: PublishRoutesOptions): Hono<ServingEnv> {
  const { objects, archives, spool, limits, mibMs = 60_000 } = options
  const log = options.log.child({ component: 'publishing' })
  const spaces = new UploadSpaces(spool)
  const put = async (c: Context<ServingEnv, typeof path>): Promise<Response> => {
    const { namespace, name, system, version } = c.req.param()
    note(c, { route: path, namespace, kind: 'Module', name, version })
    const address = parseModuleAddress(`${namespace}/${name}/${system}`)
    if (address === undefined) {
      throw new RegistryError(
        'BadRequest',
        'the path has no address of a module: write NAMESPACE/NAME/SYSTEM/VERSION',
      )
    }
    await requireRight(options, c, address)
    awaitUpload(c)
    const { signal } = c.req.raw
    const limit = limits.module
    const expected = bodyOf(c, limit.packedBytes)
    await using space = await spaces.open(2 * expected.sizeBytes, signal)
    const bounds = { sha256: expected.sha256, limit: limit.packedBytes, mibMs }
    const received = await receive(c.req.raw, space, bounds)
    // The archive as it came, and as it is packed again.
    await space.grow(2 * received)
    const context = { objects, archives, limits: limit, signal, workDir: dirname(space.path) }
    const allowed = c.req.query('allow-file')?.split(',') ?? []
    const asked = { file: space.path, address, version, storage: undefined, allowed }
    return await planPublication(context, asked, async (publication) => {
      const { refusals, target, archive, comparison, isBroken } = publication
      if (refusals.length > 0) return refusal(refusals)
      const outcome = await publish(context, publication)
      const { sha256, sizeBytes, contentDigest } = archive
      const facts = { sha256, sizeBytes, contentDigest, verdict: comparison?.verdict, isBroken }
      const body = { outcome, address, version: target.version, ...facts }
      const { subject, callerHash } = c.env?.facts ?? {}
      log.info(
        { namespace, name, system, version: target.version, sha256, outcome, subject, callerHash },
        'archive published',
      )
      return Response.json(body, {
        status: outcome === 'published' ? 201 : 200,
        headers: { 'Cache-Control': 'no-store' },
      })
    })
  }
  return new Hono<ServingEnv>().put(path, async (c) => {
    try {
      return await put(c)
    } catch (error) {
      if (error instanceof FillError || error instanceof ArchiveError) return refusal([error])
      throw error
    }
  })
}

/** The answer says nothing about modules to callers who may not publish them. */
async function requireRight(
  { objects, mayPublish }: PublishRoutesOptions,
  c: Context<ServingEnv>,
  address: PublishAddress,
): Promise<void> {
  const { namespace, name, system } = address
  const found = claimsOf(objects, address)[0]?.metadata.name
  const wouldBe = parentNames({ kind: 'Module', ...address }).name
  if (await mayPublish(c, 'Module', namespace, found ?? wouldBe)) return
  throw new RegistryError(
    'Forbidden',
    `you may not publish ${namespace}/${name}/${system}: have a GroupBinding name the namespace in publishNamespaces and the Module in publishModules, or, for credentials of the cluster, have RBAC allow you to create versions there`,
  )
}

/** Reads what the headers say about the body. @throws RegistryError */
function bodyOf(c: Context<ServingEnv>, maxBytes: number) {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== undefined && !types.some((one) => type === `application/${one}`)) {
    throw new RegistryError(
      'UnsupportedMediaType',
      `the body has Content-Type ${type}: send a zip or tar.gz as application/zip or application/gzip`,
    )
  }
  const sha256 = c.req.header('x-depot-sha256')?.toLowerCase() ?? ''
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    throw new RegistryError(
      'BadRequest',
      'X-Depot-Sha256 must be the SHA-256 of the body in hexadecimal: send sha256sum of the file',
    )
  }
  const length = Number(c.req.header('content-length') ?? 0)
  if (!(length <= maxBytes)) throw tooLarge(maxBytes)
  return { sha256, sizeBytes: length }
}

const tooLarge = (maxBytes: number) =>
  new RegistryError('TooLarge', `the archive is larger than ${maxBytes} bytes: leave files out`)

const tooSlow = (mibMs: number) =>
  new RegistryError(
    'BadRequest',
    `a MiB of the body took longer than ${mibMs / 1000} s: send it over a faster connection`,
  )

/** @returns the number of bytes. @throws RegistryError, or FillError ChecksumMismatch */
async function receive(
  request: Request,
  space: UploadSpace,
  bounds: { readonly sha256: string; readonly limit: number; readonly mibMs: number },
): Promise<number> {
  const { sha256, limit, mibMs } = bounds
  const hash = createHash('sha256')
  let bytes = 0
  await using file = await open(space.path, 'wx', 0o600)
  const reader = request.body?.getReader()
  const late = Promise.withResolvers<undefined>()
  const begin = () => setTimeout(() => late.resolve(undefined), mibMs)
  let deadline = begin()
  try {
    for (;;) {
      const next = await Promise.race([reader?.read() ?? { done: true as const }, late.promise])
      if (next === undefined) throw tooSlow(mibMs)
      if (next.done) break
      bytes += next.value.byteLength
      if (bytes > limit) throw tooLarge(limit)
      if (bytes > space.bytes) {
        clearTimeout(deadline)
        await space.grow(bytes)
        deadline = begin()
      }
      hash.update(next.value)
      await file.writeFile(next.value)
    }
  } catch (cause) {
    if (cause instanceof RegistryError) throw cause
    throw new RegistryError('BadRequest', 'the body ended early: send it again', { cause })
  } finally {
    clearTimeout(deadline)
  }
  const actual = hash.digest('hex')
  if (actual === sha256) return bytes
  throw new FillError(
    'ChecksumMismatch',
    `the body has SHA-256 ${actual}, and X-Depot-Sha256 says ${sha256}: send the same file again`,
  )
}

/** All that is in the way, in the shape of every error of the registry. */
function refusal(errors: readonly ReasonError[]): Response {
  const [first] = errors
  const status = (first && statusOfReason[first.reason]) ?? 422
  const refusals = errors.map(({ reason, message }) => ({ reason, message }))
  const body = { errors: refusals.map(({ message }) => message), refusals }
  return Response.json(body, { status, headers: { 'Cache-Control': 'no-store' } })
}
