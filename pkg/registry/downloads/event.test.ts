import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeRecords, encodeRecord } from './event.ts'

const event = { kind: 'Module', namespace: 'platform', name: 'vpc', version: '1.0.0' } as const
const first = { sequence: 1, at: 1_700_000_000_000, event }
const second = {
  sequence: 2,
  at: 1_700_000_000_001,
  event: { ...event, kind: 'Provider' as const, os: 'linux', arch: 'amd64' },
}
const text = encodeRecord(first) + encodeRecord(second)

describe('a journal', () => {
  it('has one line for each event', () => {
    expect(encodeRecord(first)).toBe(
      'b92b870a [1,1700000000000,"Module","platform","vpc","1.0.0"]\n',
    )
  })

  it('returns the written events', () => {
    expect(decodeRecords(text)).toEqual({ records: [first, second], corrupt: 0 })
  })

  it.each([
    ['torn at its end', text.slice(0, -5), [first]],
    ['torn at its start', text.slice(4), [second]],
    ['changed in a field', text.replace('vpc', 'vpd'), [second]],
    ['changed in a checksum', text.replace(/^./, 'z'), [second]],
    ['filled up with zeros', `${text.slice(0, -5)}\0\0\0\0`, [first]],
    ['interrupted by other text', text.replace('\n', '\nnothing\n'), [first, second]],
  ])('keeps its other lines if it was %s', (_, damaged, records) => {
    expect(decodeRecords(damaged)).toEqual({ records, corrupt: 1 })
  })

  it.each([
    '{}',
    'null',
    '7',
    '[1',
    '[]',
    '[1,2]',
    '["1",2,"Module","a","b","1.0.0"]',
    '[1,null,"Module","a","b","1.0.0"]',
    '[1,2,"Depot","a","b","1.0.0"]',
    '[1,2,"Module","a","b"]',
    '[1,2,"Module","a","b",1]',
    '[1,2,"Module","a",{"toString":"b"},"1.0.0"]',
    '[1,2,"Provider","a","b","1.0.0","linux"]',
    '[1,2,"Provider","a","b","1.0.0","linux","amd64","more"]',
  ])('skips a line of another shape with a valid checksum: %s', (fields) => {
    const line = `${crc32(fields).toString(16).padStart(8, '0')} ${fields}\n`
    expect(decodeRecords(line + text)).toEqual({ records: [first, second], corrupt: 1 })
  })

  it('may be empty', () => {
    expect(decodeRecords('')).toEqual({ records: [], corrupt: 0 })
  })
})
