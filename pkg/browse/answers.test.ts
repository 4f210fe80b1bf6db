import { expect, it } from 'vitest'
import { Answers } from './answers.ts'

const facts = { route: '/list' }
const revision = () => 1
const asked = { view: 'all', target: '/list' }

it('keeps an answer when it is asked for again, and none that was asked for once', () => {
  const answers = new Answers()
  answers.put(asked, { body: 'one', revision }, facts)
  expect(answers.get('all', '/list')).toBeUndefined()
  const kept = answers.put(asked, { body: 'two', revision }, facts)
  expect(answers.get('all', '/list')).toBe(kept)
})

it('keeps the next answer of what was kept before a change at once', () => {
  const answers = new Answers()
  let now = 1
  const composed = { body: 'text', revision: () => now }
  for (let times = 0; times < 2; times += 1) answers.put(asked, composed, facts)
  now = 2
  expect(answers.get('all', '/list')).toBeUndefined()
  const kept = answers.put(asked, composed, facts)
  expect(answers.get('all', '/list')).toBe(kept)
})

it('keeps what each view was told apart', () => {
  const answers = new Answers()
  const views = ['all', 'public'] as const
  const kept = views.map((view) => {
    const put = () => answers.put({ view, target: '/list' }, { body: view, revision }, facts)
    put()
    return put()
  })
  expect(views.map((view) => answers.get(view, '/list'))).toEqual(kept)
  expect(kept.map(({ body }) => String(body))).toEqual(views)
})

it('lets go of the oldest that nobody asked for again', () => {
  const body = 'x'.repeat(6_000)
  const answers = new Answers(100_000)
  const ask = (target: string) => {
    for (let times = 0; times < 2; times += 1)
      answers.put({ view: 'all', target }, { body, revision }, facts)
  }
  ask('/wanted')
  ask('/unwanted')
  expect(answers.get('all', '/wanted')).toBeDefined()
  for (let index = 0; index < 10; index += 1) ask(`/later/${index}`)
  expect(answers.get('all', '/wanted')).toBeDefined()
  expect(answers.get('all', '/unwanted')).toBeUndefined()
  expect(answers.get('all', '/later/9')).toBeDefined()
})
