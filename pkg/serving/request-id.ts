import { randomBytes } from 'node:crypto'

const safeRequestId = /^[\w.:-]{1,64}$/

/**
 * Makes what names requests: the client's own id where it is harmless, else a new one. New ones share a random beginning
 * that no other process has, and are counted from there.
 */
export function createRequestIds(): (own: string | undefined) => string {
  const prefix = randomBytes(9).toString('base64url')
  let count = 0
  return (own) => {
    if (own !== undefined && safeRequestId.test(own)) return own
    count += 1
    return `${prefix}-${count}`
  }
}
