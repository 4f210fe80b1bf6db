import { badRequest, RegistryError } from '../errors/errors.ts'

/**
 * The text of a request's body. The connection stays open, so that the client gets an answer.
 *
 * @param what the body is called in errors
 * @throws RegistryError TooLarge above the limit, or BadRequest if the client breaks it off
 */
export async function requestText(
  { body }: Request,
  maxBytes: number,
  what = 'body',
): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) {
        throw new RegistryError('TooLarge', `the ${what} is larger than ${maxBytes} bytes`)
      }
      chunks.push(chunk)
    }
  } catch (cause) {
    if (cause instanceof RegistryError) throw cause
    throw badRequest('the body ended early: send the request again', cause)
  }
  return Buffer.concat(chunks).toString()
}
