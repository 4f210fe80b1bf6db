import { dirname } from 'node:path'
import { type Context, Hono } from 'hono'
import { badRequest } from '../../base/errors/errors.ts'
import { Slots } from '../../base/pacing/pacing.ts'
import { awaitUpload, note, type ServingEnv } from '../../base/serving/serving.ts'
import { answer, counted, Refused } from './answers.ts'
import { backRefused, type Publication, planPublication, unreadIn } from './plan.ts'
import { publish } from './publish.ts'
import { type PublishParts, requireRight } from './publish-parts.ts'
import { grantedPlace, type PublishAddress, parseModuleAddress, targetOf } from './target.ts'
import { announcedBody, archiveTypes, receive } from './upload.ts'
import { UploadSpaces } from './upload-space.ts'

/** Modules that are packed at a time, because each takes memory; the others wait on disk. */
const max = 4
const maxWaiting = 256
const busy = 'too many modules wait to be checked: send the archive again in a moment'

const path = '/depot/publish/v1/modules/:namespace/:name/:system/:version'

type PutContext = Context<ServingEnv, typeof path>

/** `PUT` of a module's archive. It is published when the answer says so, and not at all before the archive is stored. */
export function moduleRoutes(parts: PublishParts): Hono<ServingEnv> {
  const endpoint = new ModuleEndpoint(parts)
  const put = (c: PutContext) => endpoint.put(c)
  return new Hono<ServingEnv>().put(path, counted('Module', parts, put))
}

class ModuleEndpoint {
  readonly #parts: PublishParts
  readonly #spaces: UploadSpaces
  readonly #slots = new Slots({ max, maxWaiting, busy })

  constructor(parts: PublishParts) {
    this.#parts = parts
    this.#spaces = new UploadSpaces(parts.spool)
  }

  async put(c: PutContext): Promise<Response> {
    const { namespace, name, system, version } = c.req.param()
    note(c, { route: path, namespace, kind: 'Module', name, version })
    const address = parseModuleAddress(`${namespace}/${name}/${system}`)
    if (address === undefined) {
      throw badRequest('the path has no address of a module: write NAMESPACE/NAME/SYSTEM/VERSION')
    }
    const { objects, archives, clock, limits, metrics, mibMs, template } = this.#parts
    const publisher = await requireRight(this.#parts, c, address)
    const bounds = { types: archiveTypes, maxBytes: limits.module.packedBytes, mibMs }
    const announced = announcedBody(c, bounds)
    this.#refuseEarly(address, version)
    awaitUpload(c)
    const { signal } = c.req.raw
    await using space = await this.#spaces.open(2 * announced.sizeBytes, signal)
    const received = await receive(c.req.raw, space, announced, bounds)
    metrics.received('Module', received)
    const startMs = performance.now()
    // The archive as it came, and as it is packed again.
    await space.grow(2 * received)
    const context = {
      objects,
      archives,
      limits: limits.module,
      signal,
      clock,
      workDir: dirname(space.path),
      publisher,
      slots: this.#slots,
    }
    const allowed = c.req.query('allow-file')?.split(',') ?? []
    const asked = { file: space.path, address, version, template, allowed }
    return await planPublication(context, asked, async (publication) => {
      if (publication.refusals.length > 0) throw new Refused(publication.refusals)
      const outcome = await publish(context, publication)
      metrics.ended('Module', outcome, startMs)
      this.#log(c, publication, { outcome, ...publisher })
      return answerOf(outcome, publication)
    })
  }

  /** Refuses before the archive is sent what no archive changes. @throws FillError */
  #refuseEarly(address: PublishAddress, version: string): void {
    const { objects, template } = this.#parts
    const target = targetOf(objects, address, version, { template })
    grantedPlace(this.#parts, target)
    const isBegun = target.siblings((one) => one === target.version).length > 0
    const back = isBegun ? undefined : backRefused(target)
    if (back !== undefined) throw back
  }

  #log(c: PutContext, { target, archive }: Publication, facts: object): void {
    const { callerHash } = c.env?.facts ?? {}
    const { address, version } = target
    const what = { ...address, version, sha256: archive.sha256, callerHash, ...facts }
    this.#parts.log.info(what, 'archive published')
  }
}

function answerOf(outcome: 'published' | 'exists', publication: Publication): Response {
  const { target, archive, comparison, isBroken } = publication
  const { sha256, sizeBytes, contentDigest } = archive
  const incomplete = unreadIn(publication.interface)
  const body = {
    outcome,
    address: target.address,
    version: target.version,
    newModule: target.isMissing,
    sha256,
    sizeBytes,
    contentDigest,
    verdict: comparison?.verdict,
    isBroken,
    ...(incomplete.length > 0 && { incomplete }),
  }
  return answer(outcome === 'published' ? 201 : 200, body)
}
