import { keptBytes } from './kept-bytes.ts'

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
  const all = keptBytes(body, roomBytes)
  rooms.set(all.buffer, { isFree: true })
  return all.subarray(roomBytes)
}

export const roomOf = ({ buffer, byteOffset }: Uint8Array<ArrayBuffer>): Room | undefined =>
  byteOffset === roomBytes ? rooms.get(buffer) : undefined
