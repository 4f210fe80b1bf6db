import { createHash } from 'node:crypto'
import { unavailable } from '../../base/errors/errors.ts'
import {
  type Clock,
  createFairLimiter,
  createLimiter,
  withDeadline,
} from '../../base/pacing/pacing.ts'
import type { ObjectInfo, OpenObject } from './driver.ts'
import type { Place } from './places.ts'
import type { VerifiedObjects } from './verified-objects.ts'

/** CLIs time out. The reading continues, and the result is there for the next request. */
export const checkDeadlineMs = 25_000
const busy = 'too many archives are being checked'

export interface ArchiveDigest extends ObjectInfo {
  /** In lower-case hexadecimal. */
  readonly sha256: string
}

/** Digests of whole objects. An object that was read is remembered as verified. */
export function createHashing(options: {
  open: (place: Place) => Promise<OpenObject>
  verified: VerifiedObjects
  clock: Clock
}) {
  const { open, verified, clock } = options
  const background = createLimiter({ parallel: 2, waiting: Number.POSITIVE_INFINITY, busy })
  const requested = createFairLimiter({ parallel: 16, perKey: 4, waitingPerKey: 200, busy })
  const running = new Map<string, Promise<ArchiveDigest>>()

  async function read(place: Place, signal?: AbortSignal): Promise<ArchiveDigest> {
    signal?.throwIfAborted()
    const openedAtMs = clock()
    const { info, body } = await open(place)
    const hash = createHash('sha256')
    let sizeBytes = 0
    try {
      for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
        signal?.throwIfAborted()
        hash.update(chunk)
        sizeBytes += chunk.byteLength
      }
    } finally {
      body.close()
    }
    signal?.throwIfAborted()
    if (sizeBytes !== info.sizeBytes) throw unavailable('the archive changed while it was read')
    const sha256 = hash.digest('hex')
    verified.remember(info, sha256, openedAtMs)
    return { ...info, sha256 }
  }

  return {
    /** Two at a time. Others wait, and the caller has to limit them. */
    digest: (place: Place, signal?: AbortSignal): Promise<ArchiveDigest> =>
      background(() => read(place, signal)),

    /**
     * Reads an object once for all concurrent requests. A request waits for at most 25 s, but the reading continues.
     *
     * @param owner of the archive: large archives of one owner never delay those of another
     * @param seen the object when the request looked at it: the request never joins the reading of an older object
     */
    async sharedDigest(
      place: Place,
      owner: string,
      { fingerprint }: ObjectInfo,
    ): Promise<ArchiveDigest> {
      const key = JSON.stringify([owner, place.key, fingerprint])
      let hashing = running.get(key)
      if (hashing === undefined) {
        hashing = requested(owner, () => read(place))
        running.set(key, hashing)
        const forget = () => running.delete(key)
        hashing.then(forget, forget)
      }
      return withDeadline(hashing, checkDeadlineMs, 'the archive is being checked')
    },
  }
}
