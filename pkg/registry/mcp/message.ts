import { jsonOf, RegistryError } from '../../base/errors/errors.ts'
import { requestText } from '../../base/serving/serving.ts'

/** Questions to tools are short. */
const maxBytes = 64 * 1024

/**
 * The message of a request.
 *
 * @throws RegistryError TooLarge, or BadRequest if it ends early or is not one message
 */
export async function messageIn(request: Request): Promise<unknown> {
  const message = jsonOf(await requestText(request, maxBytes, 'message'))
  // Many calls in one request would escape its limits; the protocol itself has dropped them.
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message
  throw new RegistryError(
    'BadRequest',
    'the body must be one JSON-RPC message: send each message in a request of its own',
  )
}
