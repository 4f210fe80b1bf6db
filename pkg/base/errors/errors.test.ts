import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { messageOf } from './errors.ts'

it('gives the message of any thrown value', () => {
  expect(messageOf(new Error('it broke'))).toBe('it broke')
  expect(messageOf('it broke')).toBe('it broke')
  expect(messageOf(new RangeError())).toBe('RangeError')
})

it('says why no address of a host is reachable', async () => {
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
  // A port that no program may listen on without being asked to: TCP multiplexer.
  const socket = connect({
    host: 'two.test',
    port: 1,
    lookup: (_name, _how, found) => found(null, addresses),
  })
  const [error] = (await once(socket, 'close').catch((thrown: unknown) => [thrown])) as [unknown]
  expect(error).toMatchObject({ name: 'AggregateError', message: '' })
  expect(messageOf(error)).toBe('ECONNREFUSED')
})
