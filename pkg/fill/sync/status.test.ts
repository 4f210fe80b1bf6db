import { expect, it } from 'vitest'
import { conditionFalse, conditionTrue, withConditions } from './status.ts'

const at = (generation: number, now: string) => ({ generation, now })

it('changes a transition time only with its status', () => {
  const first = withConditions(
    undefined,
    { Ready: conditionFalse('FetchFailed', 'unreachable') },
    at(1, 'then'),
  )
  const second = withConditions(
    first,
    { Ready: conditionFalse('UpstreamNotFound', 'gone') },
    at(2, 'later'),
  )
  expect(second).toEqual([
    {
      type: 'Ready',
      status: 'False',
      reason: 'UpstreamNotFound',
      message: 'gone',
      observedGeneration: 2,
      lastTransitionTime: 'then',
    },
  ])
  const third = withConditions(second, { Ready: conditionTrue('Synced', 'ok') }, at(2, 'now'))
  expect(third[0]?.lastTransitionTime).toBe('now')
})

it('keeps other conditions, and removes undefined ones', () => {
  const before = withConditions(
    undefined,
    { Ready: conditionTrue('Synced', ''), Stalled: conditionTrue('InvalidSpec', '') },
    at(1, 'then'),
  )
  const after = withConditions(before, { Stalled: undefined }, at(1, 'now'))
  expect(after).toEqual(before.filter(({ type }) => type === 'Ready'))
})
