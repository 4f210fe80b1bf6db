import { RegistryError } from '../errors/errors.ts'

/** The same bytes, but an error in place of those beyond the bound. */
export function boundedBody(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): ReadableStream<Uint8Array> {
  let bytes = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes <= maxBytes) controller.enqueue(chunk)
        else controller.error(tooLarge(maxBytes))
      },
    }),
  )
}

export function tooLarge(maxBytes: number): RegistryError {
  return new RegistryError('TooLarge', `the body is larger than ${maxBytes} bytes`)
}
