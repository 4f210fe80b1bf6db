import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { ByteSource } from '../../archives/spool/spool.ts'

type Outgoing = HttpBindings['outgoing']

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Answers with a body. Where there is a connection it goes there directly: a chunk is written while the next one is read
 * into a buffer that is used again, so a download takes the memory of two chunks, however long and slow it is.
 *
 * @param onSent called when all of it was handed to the system
 */
export function bodyResponse(
  body: ByteSource,
  head: Head,
  outgoing: Outgoing | undefined,
  onSent: () => void = () => {},
): Response {
  if (outgoing === undefined) return new Response(asStream(body, onSent), head)
  outgoing.once('finish', onSent)
  void send(body, head, outgoing)
  return RESPONSE_ALREADY_SENT
}

/**
 * An error in the middle becomes a broken connection: the headers have promised a length by then, so this is the only way
 * to tell a client that what it has is not the whole.
 */
async function send(body: ByteSource, head: Head, outgoing: Outgoing): Promise<void> {
  const { socket } = outgoing.req
  let gone = outgoing.destroyed || socket.destroyed
  let settle = (): void => {}
  const leave = (): void => {
    gone = true
    body.close()
    settle()
  }
  outgoing.once('close', leave)
  // An answer that waits for the one before it does not learn when its connection closes.
  socket.once('close', leave)
  try {
    if (!gone) outgoing.writeHead(head.status, head.headers)
    let written = Promise.resolve()
    for (;;) {
      const chunk = gone ? undefined : await body.read()
      await written
      if (gone) break
      if (chunk === undefined) {
        outgoing.end()
        break
      }
      written = new Promise((resolve) => {
        settle = resolve
        outgoing.write(chunk, (error) => {
          if (error) gone = true
          resolve()
        })
      })
    }
  } catch {
    // Storage has logged and counted it.
    outgoing.destroy()
  } finally {
    socket.off('close', leave)
    body.close()
  }
}

/** For who asks the app without a connection; the error stays an error. */
function asStream(body: ByteSource, onEnd: () => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const chunk = await body.read()
          if (chunk !== undefined) return controller.enqueue(new Uint8Array(chunk))
          controller.close()
          onEnd()
        } catch (error) {
          controller.error(error)
        }
        body.close()
      },
      cancel: () => body.close(),
    },
    { highWaterMark: 0 },
  )
}
