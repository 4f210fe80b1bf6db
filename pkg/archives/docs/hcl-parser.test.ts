import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, it, vi } from 'vitest'
import { withHclParser } from './blocks.ts'

const small = 'variable "cidr" {}\n'
const large = Array.from({ length: 20_000 }, (_, at) => `variable "v${at}" {}\n`).join('')

it('stops a module that exceeds its processor time, and parses the next one', async () => {
  const tooLarge = withHclParser(20, async (parse) => {
    await expect(parse('large.tf', large)).rejects.toThrow('takes too long to parse')
    return parse('small.tf', small)
  })
  await expect(tooLarge).rejects.toThrow('takes too long to parse')
  const parsed = await withHclParser(5_000, (parse) => parse('small.tf', small))
  expect(parsed).toEqual({ variable: { cidr: [{}] } })
})

it('does not count the time of waiting for files', async () => {
  await withHclParser(5_000, (parse) => parse('small.tf', small))
  const parsed = await withHclParser(300, async (parse) => {
    await sleep(400)
    return parse('small.tf', small)
  })
  expect(parsed).toEqual({ variable: { cidr: [{}] } })
})

it('ends its thread after 30 s without work, and starts another one', async () => {
  const parseSmall = () => withHclParser(5_000, (parse) => parse('small.tf', small))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const terminate = vi.spyOn(Worker.prototype, 'terminate')
  try {
    await parseSmall()
    vi.advanceTimersByTime(20_000)
    await parseSmall()
    vi.advanceTimersByTime(29_000)
    expect(terminate).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1_000)
    expect(terminate).toHaveBeenCalledOnce()
  } finally {
    vi.restoreAllMocks()
    vi.useRealTimers()
  }
  expect(await parseSmall()).toEqual({ variable: { cidr: [{}] } })
})

it('reads the line of a problem with a long message', async () => {
  const odd = '[:0,0: '.repeat(1000)
  const failed = withHclParser(5_000, (parse) => parse('main.tf', `a = 1\nb = "${odd}\n`))
  await expect(failed).rejects.toMatchObject({ line: 2 })
})
