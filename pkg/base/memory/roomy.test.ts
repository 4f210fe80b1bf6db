import { expect, it } from 'vitest'
import { roomBytes, roomOf, withRoom } from './roomy.ts'

it.each(['', 'text', 'é界🚀', Buffer.from('bytes'), Buffer.from('in the middle').subarray(3, 6)])(
  'copies %j to where a head fits in front of it',
  (body) => {
    const copy = withRoom(body)
    expect(copy).toEqual(Buffer.from(body))
    expect(roomOf(copy)).toEqual({ isFree: true })
    Buffer.from(copy.buffer, 0, roomBytes).fill('head')
    expect(copy).toEqual(Buffer.from(body))
  },
)

it('knows bytes that have no room, or something else in front of them', () => {
  expect(roomOf(Buffer.from('bytes'))).toBeUndefined()
  expect(roomOf(Buffer.alloc(2 * roomBytes).subarray(roomBytes))).toBeUndefined()
  expect(roomOf(withRoom('bytes').subarray(1))).toBeUndefined()
})

it('is one and the same for all who have the body', () => {
  const body = withRoom('bytes')
  expect(roomOf(Buffer.from(body.buffer, roomBytes))).toBe(roomOf(body))
})
