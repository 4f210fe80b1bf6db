import { randomBytes } from 'node:crypto'

const safe = /^[\w.:-]{1,64}$/

/**
 * Names requests: by the client's own id if it is harmless, otherwise by a new one. New ones share a random beginning that
 * no other process has, and are counted from there.
 */
export function createRequestIds(): (own: string | undefined) => string {
  const prefix = randomBytes(9).toString('base64url')
  let last = 0
  return (own) => {
    if (own !== undefined && safe.test(own)) return own
    last += 1
    return `${prefix}-${last}`
  }
}
