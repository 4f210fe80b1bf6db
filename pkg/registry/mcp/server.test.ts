import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { createQuestions } from '../browse/browse.ts'
import { Catalog } from '../catalog/catalog.ts'
import { answer } from './server.ts'

it('logs failures outside of tools', async () => {
  const lines: string[] = []
  const destination = new Writable({
    write(line, _, done) {
      lines.push(String(line))
      done()
    },
  })
  const catalog = new Catalog()
  const asked = {
    catalog,
    questions: createQuestions({ catalog }),
    view: catalog.model.views.all,
    get host(): string {
      throw new Error('no host')
    },
    noted: () => {},
  }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const request = new Request('http://registry.test/depot/mcp', { method: 'POST', headers })
  const log = createLogger('error', destination)
  const response = await answer(request, message, { asked, count: () => {}, log, version: '1' })
  expect(response.status).toBe(500)
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'error', err: { message: 'no host' } },
  ])
})
