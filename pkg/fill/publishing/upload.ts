import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Context } from 'hono'
import { badRequest, RegistryError } from '../../base/errors/errors.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import { FillError } from '../sources/sources.ts'
import type { UploadSpace } from './upload-space.ts'

/** Length and digest that the headers of an upload announce. */
export interface AnnouncedBody {
  readonly sha256: string
  /** 0: unknown. */
  readonly sizeBytes: number
}

interface Accepted {
  /** Subtypes of `application`; undefined: any Content-Type. */
  readonly types?: readonly string[] | undefined
  readonly maxBytes: number
}

export const archiveTypes = ['zip', 'gzip', 'x-gzip', 'x-tar', 'octet-stream']

/** Reads what the headers say about the body. @throws RegistryError */
export function announcedBody(
  c: Context<ServingEnv>,
  { types, maxBytes }: Accepted,
): AnnouncedBody {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (types !== undefined && type && !types.some((one) => type === `application/${one}`)) {
    throw new RegistryError(
      'UnsupportedMediaType',
      `the body has Content-Type ${type}: send a zip or tar.gz as application/zip or application/gzip`,
    )
  }
  const sha256 = c.req.header('x-depot-sha256')?.toLowerCase() ?? ''
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    throw badRequest(
      'X-Depot-Sha256 must be the SHA-256 of the body in hexadecimal: send sha256sum of the file',
    )
  }
  const sizeBytes = Number(c.req.header('content-length') ?? 0)
  if (!(sizeBytes <= maxBytes)) throw tooLarge(maxBytes)
  return { sha256, sizeBytes }
}

const tooLarge = (maxBytes: number) =>
  new RegistryError('TooLarge', `the body is larger than ${maxBytes} bytes: leave files out`)

const tooSlow = (mibMs: number) =>
  badRequest(
    `a MiB of the body took longer than ${mibMs / 1000} s: send it over a faster connection`,
  )

interface Bounds {
  readonly maxBytes: number
  /** How long each MiB may take to arrive. */
  readonly mibMs: number
}

/**
 * Writes a body to its space, which grows with it.
 *
 * @returns the number of bytes
 * @throws RegistryError, or FillError ChecksumMismatch
 */
export async function receive(
  request: Request,
  space: UploadSpace,
  { sha256 }: Pick<AnnouncedBody, 'sha256'>,
  { maxBytes, mibMs }: Bounds,
): Promise<number> {
  const hash = createHash('sha256')
  let bytes = 0
  await using file = await open(space.path, 'wx', 0o600)
  const reader = request.body?.getReader()
  const late = Promise.withResolvers<undefined>()
  const begin = () => setTimeout(() => late.resolve(undefined), mibMs)
  let deadline = begin()
  const read = async () => {
    try {
      return await Promise.race([reader?.read() ?? { done: true as const }, late.promise])
    } catch (cause) {
      throw badRequest('the body ended early: send it again', cause)
    }
  }
  try {
    for (;;) {
      const next = await read()
      if (next === undefined) throw tooSlow(mibMs)
      if (next.done) break
      bytes += next.value.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      if (bytes > space.bytes) {
        clearTimeout(deadline)
        await space.grow(bytes)
        deadline = begin()
      }
      hash.update(next.value)
      await file.writeFile(next.value)
    }
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
