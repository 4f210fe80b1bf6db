import { dirname } from 'node:path'
import { type Context, Hono } from 'hono'
import { RegistryError } from '../../base/errors/errors.ts'
import { createLimiter } from '../../base/pacing/pacing.ts'
import { awaitUpload, note, type ServingEnv } from '../../base/serving/serving.ts'
import { counted, Refused } from './answers.ts'
import { backRefused, type Publication, planPublication, unreadIn } from './plan.ts'
import { publish } from './publish.ts'
import type { PublishParts } from './publish-parts.ts'
import { requireRight } from './right.ts'
import { grantedPlace, parseModuleAddress, targetOf } from './target.ts'
import { announcedBody, archiveTypes, receive } from './upload.ts'
import { UploadSpaces } from './upload-space.ts'

/** Modules that are packed at a time, because each takes memory; the others wait on disk. */
const parallel = 4
const waiting = 256
const busy = 'too many modules wait to be checked: send the archive again in a moment'

const path = '/depot/publish/v1/modules/:namespace/:name/:system/:version'

/** `PUT` of a module's archive. It is published when the answer says so, and not at all before the archive is stored. */
export function moduleRoutes(parts: PublishParts): Hono<ServingEnv> {
  const { objects, archives, spool, limits, mibMs, clock, metrics, log, template } = parts
  const spaces = new UploadSpaces(spool)
  const whenFree = createLimiter({ parallel, waiting, busy })
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
    const publisher = await requireRight(parts, c, address)
    const limit = limits.module
    const bounds = { types: archiveTypes, maxBytes: limit.packedBytes, mibMs }
    const announced = announcedBody(c, bounds)
    refuseEarly(parts, address, version)
    awaitUpload(c)
    const { signal } = c.req.raw
    await using space = await spaces.open(2 * announced.sizeBytes, signal)
    const received = await receive(c.req.raw, space, announced, bounds)
    metrics.received('Module', received)
    const startMs = performance.now()
    // The archive as it came, and as it is packed again.
    await space.grow(2 * received)
    const workDir = dirname(space.path)
    const context = {
      objects,
      archives,
      limits: limit,
      signal,
      clock,
      workDir,
      publisher,
      whenFree,
    }
    const allowed = c.req.query('allow-file')?.split(',') ?? []
    const asked = { file: space.path, address, version, template, allowed }
    const work = async (publication: Publication): Promise<Response> => {
      const { refusals, target, archive, comparison, isBroken } = publication
      if (refusals.length > 0) throw new Refused(refusals)
      const outcome = await publish(context, publication)
      metrics.ended('Module', outcome, startMs)
      const { sha256, sizeBytes, contentDigest } = archive
      const facts = { sha256, sizeBytes, contentDigest, verdict: comparison?.verdict, isBroken }
      const { isMissing: newModule } = target
      const incomplete = unreadIn(publication.interface)
      const body = {
        outcome,
        address,
        version: target.version,
        newModule,
        ...facts,
        ...(incomplete.length > 0 && { incomplete }),
      }
      const { callerHash } = c.env?.facts ?? {}
      const what = { namespace, name, system, version: target.version, sha256 }
      log.info({ ...what, outcome, callerHash, ...publisher }, 'archive published')
      return Response.json(body, {
        status: outcome === 'published' ? 201 : 200,
        headers: { 'Cache-Control': 'no-store' },
      })
    }
    return await planPublication(context, asked, work)
  }
  return new Hono<ServingEnv>().put(path, counted('Module', parts, put))
}

/** Refuses before the archive is sent what no archive changes. @throws FillError */
function refuseEarly(
  parts: PublishParts,
  address: Parameters<typeof targetOf>[1],
  version: string,
): void {
  const target = targetOf(parts.objects, address, version, { template: parts.template })
  grantedPlace(parts, target)
  const isBegun = target.siblings((one) => one === target.version).length > 0
  const back = isBegun ? undefined : backRefused(target)
  if (back !== undefined) throw back
}
