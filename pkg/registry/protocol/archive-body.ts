import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type ByteSource, chunksOf } from '../../archives/spool/spool.ts'

type Outgoing = HttpBindings['outgoing']

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Answers with a body. It is written to the connection directly: a chunk is written while the next one is read into a
 * buffer that is used again, so a download takes the memory of two chunks, however long and slow it is.
 *
 * @param onSent called when the system has taken all of it
 */
export function bodyResponse(
  body: ByteSource,
  head: Head,
  outgoing: Outgoing | undefined,
  onSent: () => void = () => {},
): Response {
  if (outgoing === undefined) return new Response(ReadableStream.from(copied(body, onSent)), head)
  outgoing.once('finish', onSent)
  void send(body, head, outgoing)
  return RESPONSE_ALREADY_SENT
}

/**
 * An error in the middle becomes a broken connection: the headers have promised a length by then, so this is the only way
 * to tell a client that the body is incomplete.
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
  // An answer that waits for the previous one is not told when its connection closes.
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
    // The storage has logged and counted the error.
    outgoing.destroy()
  } finally {
    socket.off('close', leave)
    body.close()
  }
}

/** For callers that ask the app without a connection; an error stays an error. */
async function* copied(body: ByteSource, onEnd: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunksOf(body)) yield new Uint8Array(chunk)
  onEnd()
}
