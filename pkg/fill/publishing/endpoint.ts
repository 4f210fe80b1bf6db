import { dirname } from 'node:path'
import { type Context, Hono } from 'hono'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { LimitsByKind } from '../../archives/archive/archive.ts'
import type { Spool } from '../../archives/spool/spool.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { awaitUpload, note, type ServingEnv } from '../../base/serving/serving.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { Objects } from '../../records/store/store.ts'
import { parentNames } from '../importing/importing.ts'
import { counted, Refused } from './answers.ts'
import { planPublication } from './plan.ts'
import { publish } from './publish.ts'
import { PublishMetrics } from './publish-metrics.ts'
import { claimsOf, type PublishAddress, parseModuleAddress } from './target.ts'
import { announcedBody, archiveTypes, receive } from './upload.ts'
import { UploadSpaces } from './upload-space.ts'

export interface PublishRoutesOptions {
  readonly objects: Objects
  readonly archives: ArchiveStore
  readonly spool: Spool
  readonly limits: LimitsByKind
  readonly log: Logger
  readonly metrics: Metrics
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

/** `PUT` of a module's archive. It is published when the answer says so, and not at all before the archive is stored. */
export function publishRoutes(options: PublishRoutesOptions): Hono<ServingEnv> {
  const { objects, archives, spool, limits, mibMs = 60_000 } = options
  const log = options.log.child({ component: 'publishing' })
  const spaces = new UploadSpaces(spool)
  const metrics = new PublishMetrics(options.metrics)
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
    const bounds = { types: archiveTypes, maxBytes: limit.packedBytes, mibMs }
    const announced = announcedBody(c, bounds)
    await using space = await spaces.open(2 * announced.sizeBytes, signal)
    const received = await receive(c.req.raw, space, announced, bounds)
    metrics.received('Module', received)
    const startMs = performance.now()
    // The archive as it came, and as it is packed again.
    await space.grow(2 * received)
    const context = { objects, archives, limits: limit, signal, workDir: dirname(space.path) }
    const allowed = c.req.query('allow-file')?.split(',') ?? []
    const asked = { file: space.path, address, version, storage: undefined, allowed }
    return await planPublication(context, asked, async (publication) => {
      const { refusals, target, archive, comparison, isBroken } = publication
      if (refusals.length > 0) throw new Refused(refusals)
      const outcome = await publish(context, publication)
      metrics.ended('Module', outcome, startMs)
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
  return new Hono<ServingEnv>().put(path, counted('Module', metrics, put))
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
