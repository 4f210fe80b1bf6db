import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'

export const providers = ['github', 'gitlab', 'generic'] as const
export type Sender = (typeof providers)[number]

interface Signed {
  /** Undefined: no signature is right, and finding that out takes as long. */
  readonly secret: Buffer | undefined
  readonly body: Buffer
  /** A header by its name. */
  readonly header: (name: string) => string | undefined
}

const none = randomBytes(32)

/** Whether a request was sent by somebody who knows the secret. */
export function isSignedBy(provider: Sender, { secret, body, header }: Signed): boolean {
  const isUsable = secret !== undefined && secret.length > 0
  const key = isUsable ? secret : none
  const [given, wanted] =
    provider === 'gitlab'
      ? [header('x-gitlab-token'), key]
      : [
          header('x-hub-signature-256'),
          Buffer.from(`sha256=${createHmac('sha256', key).update(body).digest('hex')}`),
        ]
  return isEqual(Buffer.from(given ?? ''), wanted) && isUsable
}

/** Digests have one length, so that the time tells nothing. */
function isEqual(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}
