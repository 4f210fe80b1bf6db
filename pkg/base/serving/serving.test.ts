import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { notFound } from '../errors/errors.ts'
import { createLogger, createMetrics } from '../telemetry/telemetry.ts'
import {
  after,
  answerErrors,
  get,
  matchesEtag,
  note,
  type RunningServer,
  type ServingEnv,
  serve,
} from './serving.ts'

const lines: Record<string, unknown>[] = []
const log = createLogger('info', {
  write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
})
const waiting = ['the tide']
let server: RunningServer

/* A whole program: this is all that a process needs for a port, probes, metrics, logs and errors. */
beforeAll(async () => {
  const app = new Hono<ServingEnv>()
  get(app, '/boats', '/:name', (c) => {
    const { name } = c.req.param()
    note(c, { name })
    if (name === 'titanic') throw notFound('boat titanic not found: look further down')
    return c.json({ name })
  })
  answerErrors(app, log, 'there is /boats')
  server = await serve({
    fetch: app.fetch,
    listen: { host: '127.0.0.1', port: 0 },
    adminListen: { host: '127.0.0.1', port: 0 },
    log,
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => waiting,
  })
})
afterAll(() => server.stop(0))

describe('a program of its own', () => {
  it.each([
    ['GET', '/boats/ark', 200, { name: 'ark' }],
    ['GET', '/boats/titanic', 404, { errors: ['boat titanic not found: look further down'] }],
    ['GET', '/cars', 404, { errors: ['no such endpoint: there is /boats'] }],
    ['POST', '/cars', 404, { errors: ['no such endpoint: there is /boats'] }],
    ['POST', '/boats/ark', 405, { errors: ['POST is not allowed here, only GET and HEAD'] }],
  ])('answers %s %s with %i', async (method, path, status, body) => {
    const response = await fetch(server.url + path, { method })
    expect([response.status, await response.json()]).toEqual([status, body])
  })

  it('names its routes in the log and in its metrics', async () => {
    await (await fetch(`${server.url}/boats/nautilus`)).text()
    const line = { route: '/boats/:name', name: 'nautilus', status: 200 }
    await vi.waitFor(() => expect(lines).toContainEqual(expect.objectContaining(line)))
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
    expect(metrics).toContain(
      'depot_http_request_duration_seconds_count{method="GET",route="/boats/:name",code="200"}',
    )
  })

  it('is ready when it waits for nothing', async () => {
    const probe = async () => {
      const response = await fetch(`${server.adminUrl}/readyz`)
      return [response.status, await response.text()]
    }
    expect(await probe()).toEqual([503, 'not ready: the tide\n'])
    waiting.pop()
    expect(await probe()).toEqual([200, 'ok\n'])
  })
})

describe('If-None-Match', () => {
  it.each([
    [undefined, false],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    ['', false],
  ])('%s matches "a": %s', (header, matches) => {
    expect(matchesEtag(header, '"a"')).toBe(matches)
  })
})

describe('after', () => {
  it('continues synchronously with a plain value', () => {
    expect(after(1, (value) => value + 1)).toBe(2)
  })

  it('continues when a promise resolves, and fails when it rejects', async () => {
    await expect(after(Promise.resolve(1), (value) => value + 1)).resolves.toBe(2)
    await expect(after(Promise.reject(new Error('no')), String)).rejects.toThrow('no')
  })
})
