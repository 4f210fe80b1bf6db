/** Bytes in front of a body. Heads of ours take 200 to 600. */
export const roomBytes = 1024

/** The room in front of a body; all who have the body share it. */
export interface Room {
  /** False while what stands in it is still to be sent. */
  isFree: boolean
}

const rooms = new WeakMap<ArrayBuffer, Room>()

/** Copies a body to where there is room in front of it: a head that is put there goes out with it in one piece. */
export function withRoom(body: string | Uint8Array): Buffer<ArrayBuffer> {
  const all = Buffer.allocUnsafeSlow(roomBytes + Buffer.byteLength(body))
  if (typeof body === 'string') all.write(body, roomBytes)
  else all.set(body, roomBytes)
  rooms.set(all.buffer, { isFree: true })
  return all.subarray(roomBytes)
}

export const roomOf = ({ buffer, byteOffset }: Uint8Array<ArrayBuffer>): Room | undefined =>
  byteOffset === roomBytes ? rooms.get(buffer) : undefined

/**
 * Bytes of text that are kept for long. Node puts short ones of many owners into one piece of 64 kB, which lives for as long
 * as any of them.
 */
export function keptBytes(text: string | Uint8Array): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  if (typeof text === 'string') bytes.write(text)
  else bytes.set(text)
  return bytes
}
