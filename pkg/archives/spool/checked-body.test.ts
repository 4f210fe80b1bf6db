import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ByteSource, checkedBody } from './byte-source.ts'

const sha256 = createHash('sha256').update('one two three').digest('hex')

/** A source of chunks and errors. */
function sourceOf(chunks: readonly (string | Error)[], onClose: () => void = () => {}): ByteSource {
  const left = [...chunks]
  return {
    async read() {
      const chunk = left.shift()
      if (chunk instanceof Error) throw chunk
      return chunk === undefined ? undefined : Buffer.from(chunk)
    },
    close: onClose,
  }
}

/** Reads a checked body until it ends or fails. */
async function read(
  chunks: readonly (string | Error)[],
  options: { sha256?: string } = { sha256 },
) {
  const events: unknown[] = []
  const body = checkedBody(sourceOf(chunks), {
    sizeBytes: 13,
    ...options,
    onEnd: () => events.push('end'),
    onAbort: (reason) => events.push(reason),
  })
  let text = ''
  try {
    for (let chunk = await body.read(); chunk; chunk = await body.read()) {
      events.push(chunk.length)
      text += Buffer.from(chunk).toString()
    }
    body.close()
    return { text, events }
  } catch (error) {
    body.close()
    return { text, events, message: (error as Error).message }
  }
}

describe('a checked body', () => {
  it('is passed on if length and digest are right', async () => {
    const { text, events, message } = await read(['one ', 'two ', 'three'])
    expect({ text, events, message }).toEqual({ text: 'one two three', events: [4, 4, 'end', 5] })
  })

  it('need not have a digest', async () => {
    expect(await read(['one two ', 'four!'], {})).toEqual({
      text: 'one two four!',
      events: [8, 'end', 5],
    })
  })

  it.each([
    {
      what: 'other bytes',
      chunks: ['one ', 'two ', 'four!'],
      text: 'one two ',
      reason: 'ChecksumMismatch',
    },
    {
      what: 'other bytes in one chunk',
      chunks: ['one two four!'],
      text: '',
      reason: 'ChecksumMismatch',
    },
    { what: 'an early end', chunks: ['one ', 'two '], text: 'one two ', reason: 'Truncated' },
    { what: 'no bytes', chunks: [], text: '', reason: 'Truncated' },
    {
      what: 'too many bytes',
      chunks: ['one two ', 'three', '!'],
      text: 'one two ',
      reason: 'StorageFailed',
    },
  ])('never ends with $what', async ({ chunks, text, reason }) => {
    const found = await read(chunks)
    expect(found).toMatchObject({ text, message: expect.stringMatching(/^the archive in storage/) })
    expect(found.events.at(-1)).toBe(reason)
  })

  it.each([
    { what: 'an early end', chunks: ['one ', 'two '], reason: 'Truncated' },
    { what: 'too many bytes', chunks: ['one two three', '!'], reason: 'StorageFailed' },
  ])('never ends with $what if the bytes are not hashed', async ({ chunks, reason }) => {
    const { events, message } = await read(chunks, {})
    expect(message).toBeDefined()
    expect(events.at(-1)).toBe(reason)
  })

  it('passes on the error of the backend', async () => {
    const found = await read(['one ', new Error('EIO')])
    expect(found).toMatchObject({ events: [4, 'StorageFailed'], message: 'EIO' })
  })

  it('closes its source when the client closes, and reports that once', async () => {
    const events: unknown[] = []
    const body = checkedBody(
      sourceOf(['one ', 'two ', 'three'], () => events.push('closed')),
      {
        sizeBytes: 13,
        onAbort: (reason) => events.push(reason),
      },
    )
    await body.read()
    body.close()
    expect(events).toEqual(['ClientGone', 'closed'])
    body.close()
    expect(await body.read()).toBeUndefined()
    expect(events).toEqual(['ClientGone', 'closed', 'closed'])
  })
})
