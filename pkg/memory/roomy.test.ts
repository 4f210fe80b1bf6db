import { expect, it } from 'vitest'
import { hasRoom, roomBytes, withRoom } from './roomy.ts'

it.each(['', 'text', 'é界🚀', Buffer.from('bytes'), Buffer.from('in the middle').subarray(3, 6)])(
  'copies %j to where a head fits in front of it',
  (body) => {
    const copy = withRoom(body)
    expect(copy).toEqual(Buffer.from(body))
    expect(hasRoom(copy)).toBe(true)
    Buffer.from(copy.buffer, 0, roomBytes).fill('head')
    expect(copy).toEqual(Buffer.from(body))
  },
)

it('knows bytes that have no room, or something else in front of them', () => {
  expect(hasRoom(Buffer.from('bytes'))).toBe(false)
  expect(hasRoom(Buffer.alloc(2 * roomBytes).subarray(roomBytes))).toBe(false)
  expect(hasRoom(withRoom('bytes').subarray(1))).toBe(false)
})
