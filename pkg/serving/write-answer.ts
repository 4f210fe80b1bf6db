import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Room, roomBytes } from '../memory/memory.ts'

/** Bytes, or text of one byte a character. */
export type Piece = string | Uint8Array

/** What a head is put together of: what is before the id of the request, that id, what follows it, and the end. */
export type Head = readonly [Uint8Array, Uint8Array, Piece, Uint8Array]

export const sizeOf = ([start, id, lines, end]: Head): number =>
  start.length + id.length + lines.length + end.length

/** Puts a head at the beginning of memory that is long enough for it. */
function put([start, id, lines, end]: Head, bytes: Buffer): void {
  const afterStart = start.length
  const afterId = afterStart + id.length
  bytes.set(start, 0)
  bytes.set(id, afterStart)
  putPiece(lines, bytes, afterId)
  bytes.set(end, afterId + lines.length)
}

function putPiece(piece: Piece, bytes: Buffer, at: number): void {
  if (typeof piece === 'string') bytes.write(piece, at, 'latin1')
  else bytes.set(piece, at)
}

/** What is longer is not copied behind its head: copying it costs more than the second buffer of the kernel. */
const capacity = 24 * 1024
/**
 * Where heads and bodies are put together: one piece takes one buffer of the kernel's instead of two, and it leaves no
 * garbage to use the same memory again: where the kernel does not take all at once, there is another one from then on.
 */
let scratch = Buffer.allocUnsafeSlow(capacity)

/** A head as text of one byte a character. */
export function textOf(head: Head): string {
  const size = sizeOf(head)
  const bytes = size > capacity ? Buffer.allocUnsafe(size) : scratch
  put(head, bytes)
  return bytes.toString('latin1', 0, size)
}

/**
 * Writes an answer to a connection on which nothing waits to be written.
 *
 * @param response which owns the connection
 * @param room in front of the body, if there is any
 */
export function writeAnswer(
  response: ServerResponse,
  socket: Socket,
  head: Head,
  body: Piece,
  room: Room | undefined,
): void {
  const headSize = sizeOf(head)
  const size = headSize + body.length
  if (room?.isFree === true && headSize <= roomBytes) {
    writeInFront(response, socket, head, body as Buffer<ArrayBuffer>, room)
  } else if (size <= capacity) {
    put(head, scratch)
    putPiece(body, scratch, headSize)
    socket.write(scratch.subarray(0, size))
    if (socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(capacity)
  } else {
    const bytes = Buffer.allocUnsafe(headSize)
    put(head, bytes)
    socket.cork()
    // Both are bytes: where one part is text, Node puts all of a write together once more.
    socket.write(bytes)
    socket.write(body, 'latin1')
    socket.uncork()
  }
}

/** Puts a head in front of a body. Until the client has both, no other head may be put there. */
function writeInFront(
  response: ServerResponse,
  socket: Socket,
  head: Head,
  { buffer, byteOffset, length }: Buffer<ArrayBuffer>,
  room: Room,
): void {
  const headSize = sizeOf(head)
  const bytes = Buffer.from(buffer, byteOffset - headSize, headSize + length)
  put(head, bytes)
  socket.write(bytes)
  if (socket.writableLength === 0) return
  room.isFree = false
  response.once('close', () => {
    room.isFree = true
  })
}
