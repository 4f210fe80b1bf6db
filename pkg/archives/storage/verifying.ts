import { ifFound } from '../../base/errors/errors.ts'
import { sha256Of } from '../spool/spool.ts'
import type { Driver, WritableDriver } from './driver.ts'

type Expected = Parameters<WritableDriver['check']>[1]

/**
 * Checks whether an object is the one that was stored.
 *
 * @param reported the digest that the backend reports for a whole object; undefined if it reports none
 */
export function createVerifying(
  driver: Pick<Driver, 'open' | 'stat'>,
  reported: (object: string) => Promise<Expected | undefined> = async () => undefined,
): Pick<WritableDriver, 'verify' | 'check'> {
  return {
    verify: async (object, expected, { signal, read = false } = {}) => {
      signal?.throwIfAborted()
      const known = read ? undefined : await reported(object)
      return known === undefined
        ? ((await ifFound(matchesRead(driver, object, expected, signal))) ?? false)
        : matches(known, expected)
    },
    check: async (object, expected) => {
      const known = await reported(object)
      if (known !== undefined) return matches(known, expected)
      const found = await ifFound(driver.stat(object))
      return found !== undefined && matches({ sizeBytes: found.sizeBytes }, expected)
    },
  }
}

/** Values that one side does not report are not compared. */
function matches(known: Expected, expected: Expected): boolean {
  const { sizeBytes = known.sizeBytes, sha256 = known.sha256 } = expected
  return known.sizeBytes === sizeBytes && (known.sha256 ?? sha256) === sha256
}

/** Reads a whole object and discards it. */
async function matchesRead(
  driver: Pick<Driver, 'open'>,
  object: string,
  { sizeBytes, sha256 }: Expected,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { info, body } = await driver.open(object)
  const isSize = info.sizeBytes === sizeBytes
  if (!isSize) body.close()
  return isSize && (await sha256Of(body, signal)) === sha256
}
