import { expect, it } from 'vitest'
import { readableLine } from './readable-line.ts'
import { createLogger } from './telemetry.ts'

/** The readable text of what a logger writes, without the time. */
function textOf(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = []
  write(createLogger('info', { write: (line) => lines.push(readableLine(line)) }))
  return lines.join('').replaceAll(/^\d\d:\d\d:\d\d /gm, '')
}

it('writes level, message and fields, and quotes what has blanks', () => {
  const log = { component: 'manifests', files: 7, dir: 'a b', url: 'http://h/?a=b' }
  expect(textOf((to) => to.warn(log, 'manifests loaded'))).toBe(
    'warn  manifests loaded files=7 dir="a b" url=http://h/?a=b\n',
  )
})

it('writes a request in four fields', () => {
  const request = { requestId: 'x', durationMs: 4.057, method: 'GET', path: '/v1/a', status: 404 }
  expect(textOf((to) => to.info({ ...request, err: new Error('no module') }, 'request'))).toBe(
    'info  GET /v1/a 404 4 ms: no module\n',
  )
})

it('writes the stack of an unexpected error alone', () => {
  const error = new TypeError('x is not a function')
  const [first, second] = textOf((to) => to.error({ err: error }, 'failed')).split('\n')
  expect([first, second]).toEqual(['error failed', '  TypeError: x is not a function'])
  const expected = Object.assign(new Error('no such tag'), { reason: 'NotFound' })
  expect(textOf((to) => to.error({ err: expected }, 'failed'))).toBe('error failed: no such tag\n')
})

it('escapes what could control a terminal', () => {
  expect(textOf((to) => to.info({ name: '\u001b[2J\u009b\u202e' }, 'stored'))).toBe(
    'info  stored name=\\u{1b}[2J\\u{9b}\\u{202e}\n',
  )
})
