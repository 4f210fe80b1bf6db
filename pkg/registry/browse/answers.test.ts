import { expect, it } from 'vitest'
import { collectGarbage } from '../../base/fast/garbage.fixture.ts'
import { Answers } from './answers.ts'

const facts = { route: '/list' }
const revision = () => 1

it('keeps an answer from its second request on', () => {
  const answers = new Answers()
  answers.put('all', '/list', { body: 'one', revision }, facts)
  expect(answers.get('all', '/list')).toBeUndefined()
  const kept = answers.put('all', '/list', { body: 'two', revision }, facts)
  expect(answers.get('all', '/list')).toBe(kept)
})

it('keeps the next answer at once if an earlier one was kept before a change', () => {
  const answers = new Answers()
  let now = 1
  const composed = { body: 'text', revision: () => now }
  for (let times = 0; times < 2; times += 1) answers.put('all', '/list', composed, facts)
  now = 2
  expect(answers.get('all', '/list')).toBeUndefined()
  const kept = answers.put('all', '/list', composed, facts)
  expect(answers.get('all', '/list')).toBe(kept)
})

it('keeps answers of different views apart', () => {
  const answers = new Answers()
  const views = ['all', 'public'] as const
  const kept = views.map((view) => {
    const put = () => answers.put(view, '/list', { body: view, revision }, facts)
    put()
    return put()
  })
  expect(views.map((view) => answers.get(view, '/list'))).toEqual(kept)
  expect(kept.map(({ body }) => String(body))).toEqual(views)
})

it('drops the answers that were not requested for the longest time', () => {
  const body = 'x'.repeat(6_000)
  const answers = new Answers(100_000)
  const ask = (target: string) => {
    for (let times = 0; times < 2; times += 1) answers.put('all', target, { body, revision }, facts)
  }
  ask('/wanted')
  ask('/unwanted')
  expect(answers.get('all', '/wanted')).toBeDefined()
  for (let index = 0; index < 10; index += 1) {
    ask(`/later/${index}`)
    expect(answers.get('all', '/wanted')).toBeDefined()
  }
  expect(answers.get('all', '/unwanted')).toBeUndefined()
  expect(answers.get('all', '/later/9')).toBeDefined()
})

it('does not confuse two views that ask the same', () => {
  const answers = new Answers()
  for (const view of ['all', 'public']) {
    answers.put(view, '/list', { body: view, revision }, facts)
    expect(answers.get(view, '/list')).toBeUndefined()
  }
})

it('drops an outdated answer', () => {
  const answers = new Answers()
  let now = 1
  const composed = { body: 'text', revision: () => now }
  for (const view of ['all', 'public', 'all', 'public']) answers.put(view, '/list', composed, facts)
  expect(answers.size).toBe(2)
  now = 2
  expect(answers.get('public', '/list')).toBeUndefined()
  expect(answers.size).toBe(1)
})

it('keeps a target without the URL that it was part of', () => {
  const answers = new Answers()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 60; index += 1) {
    const url = `http://${'h'.repeat(1_000_000)}${index}/list?page=${index}`
    const target = url.slice(url.lastIndexOf('/'))
    for (let times = 0; times < 2; times += 1) {
      answers.put('all', target, { body: 'text', revision }, facts)
    }
    expect(answers.get('all', target)).toBeDefined()
  }
  collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20e6)
})
