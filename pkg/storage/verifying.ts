import { createHash } from 'node:crypto'
import { RegistryError } from '../errors/errors.ts'
import type { Driver, WritableDriver } from './driver.ts'

/** `verify` for a backend that keeps no digest of its own: the object is read from end to end, and not kept. */
export function verifyByReading(driver: Pick<Driver, 'open'>): WritableDriver['verify'] {
  return async (object, { sizeBytes, sha256 }, { signal } = {}) => {
    signal?.throwIfAborted()
    try {
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
    } catch (error) {
      if (error instanceof RegistryError && error.reason === 'NotFound') return false
      throw error
    }
  }
}
