import { createHash } from 'node:crypto'
import { RegistryError } from '../../base/errors/errors.ts'
import type { Driver, WritableDriver } from './driver.ts'

type Expected = Parameters<WritableDriver['check']>[1]

/**
 * Checks whether an object is the one that was stored.
 *
 * @param reported the digest that the backend reports for a whole object; undefined where it reports none
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
        ? orMissing(matchesRead(driver, object, expected, signal))
        : matches(known, expected)
    },
    check: async (object, expected) => {
      const known = await reported(object)
      if (known !== undefined) return matches(known, expected)
      return orMissing(
        driver.stat(object).then(({ sizeBytes }) => matches({ sizeBytes }, expected)),
      )
    },
  }
}

/** Values that one side does not report are not compared. */
function matches(known: Expected, expected: Expected): boolean {
  const { sizeBytes = known.sizeBytes, sha256 = known.sha256 } = expected
  return known.sizeBytes === sizeBytes && (known.sha256 ?? sha256) === sha256
}

/** Reads a whole object and keeps nothing of it. */
async function matchesRead(
  driver: Pick<Driver, 'open'>,
  object: string,
  { sizeBytes, sha256 }: Expected,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { info, body } = await driver.open(object)
  try {
    if (info.sizeBytes !== sizeBytes) return false
    const hash = createHash('sha256')
    for (let chunk = await body.read(); chunk; chunk = await body.read()) {
      signal?.throwIfAborted()
      hash.update(chunk)
    }
    return hash.digest('hex') === sha256
  } finally {
    body.close()
  }
}

async function orMissing(work: Promise<boolean>): Promise<boolean> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RegistryError && error.reason === 'NotFound') return false
    throw error
  }
}
