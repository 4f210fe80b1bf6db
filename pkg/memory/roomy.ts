/** Bytes in front of a body. Heads of ours take 200 to 600. */
export const roomBytes = 1024

const roomy = new WeakSet<ArrayBuffer>()

/** Copies a body to where there is room in front of it: a head that is put there goes out with it in one piece. */
export function withRoom(body: string | Uint8Array): Buffer<ArrayBuffer> {
  const all = Buffer.allocUnsafeSlow(roomBytes + Buffer.byteLength(body))
  if (typeof body === 'string') all.write(body, roomBytes)
  else all.set(body, roomBytes)
  roomy.add(all.buffer)
  return all.subarray(roomBytes)
}

export const hasRoom = ({ buffer, byteOffset }: Uint8Array<ArrayBuffer>): boolean =>
  byteOffset === roomBytes && roomy.has(buffer)
