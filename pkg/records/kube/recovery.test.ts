import { describe, expect, it } from 'vitest'
import { Outcome, type OutcomeReason } from './outcome.ts'
import {
  afterList,
  afterProgress,
  nextList,
  type RecoveryState,
  recover,
  untried,
} from './recovery.ts'
import { defaultTimings } from './timings.ts'

interface Case {
  readonly name: string
  readonly reason: OutcomeReason
  readonly before?: Partial<RecoveryState>
  readonly listing?: boolean
  readonly silent?: boolean
  readonly retryAfterMs?: number
  readonly relist: boolean
  readonly delayMs: number
  readonly after?: Partial<RecoveryState>
}

const table: readonly Case[] = [
  { name: 'the server ended the watch', reason: 'StreamClosed', relist: false, delayMs: 0 },
  { name: 'it ended it at once', reason: 'StreamTooShort', relist: false, delayMs: 800 },
  {
    name: 'the fourth failure in a row',
    reason: 'Unreachable',
    before: { failures: 3 },
    relist: false,
    delayMs: 6_400,
    after: { failures: 4 },
  },
  {
    name: 'the cap',
    reason: 'Unreachable',
    before: { failures: 40 },
    relist: false,
    delayMs: 30_000,
  },
  {
    name: 'Retry-After',
    reason: 'RateLimited',
    retryAfterMs: 5_000,
    relist: false,
    delayMs: 5_800,
    after: { failures: 0 },
  },
  {
    name: 'Retry-After of a day',
    reason: 'RateLimited',
    retryAfterMs: 86_400_000,
    relist: false,
    delayMs: 120_800,
  },
  {
    name: 'a server error',
    reason: 'ServerError',
    relist: false,
    delayMs: 800,
    after: { doubts: 1 },
  },
  {
    name: 'the third server error',
    reason: 'ServerError',
    before: { doubts: 2, failures: 2 },
    relist: true,
    delayMs: 800,
    after: { relists: 1, relistedMs: 1_000_000 },
  },
  { name: 'an expired version', reason: 'RevisionExpired', relist: true, delayMs: 800 },
  {
    name: 'a version that expired right after the list',
    reason: 'RevisionExpired',
    before: { listedMs: 999_900, relists: 2 },
    relist: true,
    delayMs: 3_200,
  },
  {
    name: 'an answer that cannot be read, again soon',
    reason: 'UndecodableAnswer',
    before: { relistedMs: 990_000, relists: 1 },
    relist: true,
    delayMs: 1_600,
  },
  {
    name: 'an answer that cannot be read, again much later',
    reason: 'UndecodableAnswer',
    before: { relistedMs: 0, relists: 5 },
    relist: true,
    delayMs: 800,
  },
  {
    name: 'a server that streams no lists',
    reason: 'BadRequest',
    listing: true,
    relist: false,
    delayMs: 0,
    after: { streams: false },
  },
  {
    name: 'a server that refuses pages too',
    reason: 'BadRequest',
    before: { streams: false },
    listing: true,
    relist: false,
    delayMs: 800,
    after: { failedLists: 1 },
  },
  {
    name: 'a list that failed for whatever reason',
    reason: 'RevisionExpired',
    listing: true,
    relist: false,
    delayMs: 800,
    after: { failedLists: 1, relists: 0 },
  },
  {
    name: 'a watch without a byte',
    reason: 'Timeout',
    silent: true,
    relist: false,
    delayMs: 800,
    after: { silences: 1 },
  },
  {
    name: 'a second watch without a byte',
    reason: 'StreamIdle',
    silent: true,
    before: { silences: 1 },
    relist: true,
    delayMs: 800,
    after: { silences: 2 },
  },
  {
    name: 'a watch that brought something before it fell silent',
    reason: 'StreamIdle',
    before: { silences: 1 },
    relist: false,
    delayMs: 0,
    after: { silences: 1 },
  },
  {
    name: 'an API server that is unreachable, however long',
    reason: 'Unreachable',
    silent: true,
    before: { silences: 1 },
    relist: false,
    delayMs: 800,
  },
]

describe('the consequence of an outcome', () => {
  it.each(table)('$name', (row) => {
    const { before, listing = false, silent = false, retryAfterMs = 0, relist, delayMs } = row
    const outcome = new Outcome(row.reason, '', { retryAfterMs })
    const context = { listing, silent, nowMs: 1_000_000, timings: defaultTimings, random: () => 1 }
    const recovery = recover(outcome, { ...untried, ...before }, context)
    expect(recovery).toMatchObject({ relist, delayMs, state: row.after ?? {} })
  })

  it('is forgotten with the next event, including silences', () => {
    const troubled = { ...untried, failures: 4, doubts: 2, silences: 3, relists: 2 }
    expect(afterProgress(troubled)).toEqual({ ...untried, relists: 2 })
    expect(afterProgress(untried)).toBe(untried)
  })

  it('is forgotten with the next list, but not that watches deliver nothing', () => {
    const troubled = { ...untried, failures: 4, doubts: 2, silences: 3, failedLists: 2 }
    expect(afterList(troubled, 7)).toEqual({ ...untried, silences: 3, listedMs: 7 })
  })

  it.each([
    { name: 'a fresh start', state: {}, expected: 'stream' },
    { name: 'an older server', state: { streams: false }, expected: 'pages' },
    { name: 'one failed', state: { failedLists: 1 }, expected: 'stream' },
    { name: 'two failed', state: { failedLists: 2 }, expected: 'pages' },
    { name: 'three failed', state: { failedLists: 3 }, expected: 'stream' },
    { name: 'watches bring nothing', state: { silences: 2 }, expected: 'pages' },
  ])('decides how the next list is read: $name', ({ state, expected }) => {
    expect(nextList({ ...untried, ...state })).toBe(expected)
  })
})
