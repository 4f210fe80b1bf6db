import { expect, it } from 'vitest'
import { Refresher } from './refresh.ts'
import type { Session } from './session.ts'

const session: Session = { idToken: 'old', refreshToken: 'first', signedInAt: 0 }

function started() {
  let now = 0
  const asked: (string | undefined)[] = []
  const waiting: PromiseWithResolvers<Session>[] = []
  const refresher = new Refresher(
    ({ refreshToken }) => {
      asked.push(refreshToken)
      const answer = Promise.withResolvers<Session>()
      waiting.push(answer)
      return answer.promise
    },
    () => now,
  )
  return { refresher, asked, waiting, at: (ms: number) => (now = ms) }
}

it('asks the issuer once for requests at the same time', async () => {
  const { refresher, asked, waiting } = started()
  const both = [refresher.refresh(session), refresher.refresh({ ...session, devToken: 'mine' })]
  waiting[0]?.resolve({ ...session, idToken: 'new', refreshToken: 'second' })
  const [one, other] = await Promise.all(both)
  expect(asked).toEqual(['first'])
  expect(one).toMatchObject({ idToken: 'new', refreshToken: 'second', devToken: undefined })
  expect(other).toMatchObject({ idToken: 'new', devToken: 'mine' })
})

it('gives the same result for 30 s to requests that carry the old cookie', async () => {
  const { refresher, asked, waiting, at } = started()
  const first = refresher.refresh(session)
  waiting[0]?.resolve({ ...session, idToken: 'new', refreshToken: 'second' })
  await first
  at(29_999)
  expect((await refresher.refresh(session)).idToken).toBe('new')
  expect(asked).toHaveLength(1)
  at(30_000)
  void refresher.refresh(session)
  expect(asked).toHaveLength(2)
})

it('asks again after the issuer was away', async () => {
  const { refresher, asked, waiting } = started()
  const first = refresher.refresh(session)
  waiting[0]?.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  void refresher.refresh(session)
  expect(asked).toHaveLength(2)
})

it('keeps sessions apart', async () => {
  const { refresher, asked, waiting } = started()
  const first = refresher.refresh(session)
  const second = refresher.refresh({ ...session, refreshToken: 'other' })
  waiting[0]?.resolve({ ...session, idToken: 'a' })
  waiting[1]?.resolve({ ...session, idToken: 'b' })
  expect([(await first).idToken, (await second).idToken]).toEqual(['a', 'b'])
  expect(asked).toEqual(['first', 'other'])
})
