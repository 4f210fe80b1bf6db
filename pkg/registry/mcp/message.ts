import { RegistryError } from '../../base/errors/errors.ts'

/** Questions to tools are short. */
const maxBytes = 64 * 1024

/**
 * The message of a request.
 *
 * @throws RegistryError TooLarge, or BadRequest if it ends early or is not one message
 */
export async function messageIn(request: Request): Promise<unknown> {
  const message = parsed(await textOf(request))
  // Many calls in one request would escape its limits; the protocol itself has dropped them.
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message
  throw new RegistryError(
    'BadRequest',
    'the body must be one JSON-RPC message: send each message in a request of its own',
  )
}

async function textOf(request: Request): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) {
        throw new RegistryError('TooLarge', `the message is larger than ${maxBytes} bytes`)
      }
      chunks.push(chunk)
    }
  } catch (cause) {
    if (cause instanceof RegistryError) throw cause
    throw new RegistryError('BadRequest', 'the body ended early: send the message again', { cause })
  }
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
