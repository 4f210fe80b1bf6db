import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkedBody } from './checked-body.ts'

const sha256 = createHash('sha256').update('one two three').digest('hex')

/** Reads a checked body as far as it goes. */
async function read(
  chunks: readonly (string | Error)[],
  options: { sha256?: string } = { sha256 },
) {
  const events: unknown[] = []
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        if (chunk instanceof Error) return controller.error(chunk)
        controller.enqueue(Buffer.from(chunk))
      }
      controller.close()
    },
    pull: () => {},
  })
  const body = checkedBody(source, {
    sizeBytes: 13,
    ...options,
    onChunk: (sizeBytes) => events.push(sizeBytes),
    onEnd: () => events.push('end'),
    onAbort: (reason) => events.push(reason),
  })
  let text = ''
  try {
    for await (const chunk of body) text += Buffer.from(chunk).toString()
    return { text, events }
  } catch (error) {
    return { text, events, message: (error as Error).message }
  }
}

describe('a checked body', () => {
  it('is passed on when length and digest are right', async () => {
    const { text, events, message } = await read(['one ', 'two ', '', 'three'])
    expect({ text, events, message }).toEqual({ text: 'one two three', events: [4, 4, 5, 'end'] })
  })

  it('need not have a digest', async () => {
    expect(await read(['one two ', 'four!'], {})).toEqual({
      text: 'one two four!',
      events: [8, 5, 'end'],
    })
  })

  it.each([
    {
      what: 'other bytes',
      chunks: ['one ', 'two ', 'four!'],
      text: 'one two ',
      reason: 'checksum',
    },
    { what: 'other bytes in one chunk', chunks: ['one two four!'], text: '', reason: 'checksum' },
    { what: 'an early end', chunks: ['one ', 'two '], text: 'one ', reason: 'truncated' },
    { what: 'no bytes', chunks: [], text: '', reason: 'truncated' },
    {
      what: 'too many bytes',
      chunks: ['one two ', 'three', '!'],
      text: 'one two ',
      reason: 'backend',
    },
  ])('never ends with $what', async ({ chunks, text, reason }) => {
    const found = await read(chunks)
    expect(found).toMatchObject({ text, message: expect.stringMatching(/^the archive in storage/) })
    expect(found.events.at(-1)).toBe(reason)
  })

  it.each([
    { what: 'an early end', chunks: ['one ', 'two '], reason: 'truncated' },
    { what: 'too many bytes', chunks: ['one two three', '!'], reason: 'backend' },
  ])('never ends with $what where the bytes are not hashed', async ({ chunks, reason }) => {
    const { events, message } = await read(chunks, {})
    expect(message).toBeDefined()
    expect(events.at(-1)).toBe(reason)
  })

  it('passes on the error of the backend', async () => {
    const found = await read(['one ', new Error('EIO')])
    expect(found).toMatchObject({ events: ['backend'], message: 'EIO' })
  })

  it('cancels its source with the client, and tells so', async () => {
    const events: unknown[] = []
    const gone = new Error('gone')
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.from('x')),
      cancel: (why) => void events.push(why),
    })
    const body = checkedBody(source, {
      sizeBytes: 13,
      onChunk: () => {},
      onEnd: () => {},
      onAbort: (reason) => events.push(reason),
    })
    const reader = body.getReader()
    await reader.read()
    await reader.cancel(gone)
    expect(events).toEqual(['client', gone])
  })
})
