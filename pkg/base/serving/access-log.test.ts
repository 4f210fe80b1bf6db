import { afterEach, expect, it, vi } from 'vitest'
import { createLogger, type RequestFacts } from '../telemetry/telemetry.ts'
import { ReadyAnswer } from './ready-answer.ts'
import { accessLog, type LoggedRequest } from './request-reports.ts'

const request: Omit<LoggedRequest, 'facts'> = {
  method: 'GET',
  url: '/depot/ui/v1/resources?q=secret',
  status: 200,
  requestId: 'id-1',
  durationMs: 1.2345,
  bytes: 678,
  isAborted: false,
  userAgent: 'Terraform/1.9.0 (+https://www.terraform.io)',
  terraformVersion: undefined,
  traceparent: undefined,
  remoteAddress: '127.0.0.1',
}
const caller: RequestFacts = { mode: 'oidc', callerHash: 'AAAAAAAAAAAA', view: 'binding team-1' }
const subject = {
  route: '/depot/ui/v1/resources',
  namespace: 'platform',
  kind: 'Module' as const,
  name: 'network',
  version: '1.0.0',
}

/** Values of DEPOT_PLAIN. */
const ways = ['0', '1']

afterEach(() => vi.unstubAllEnvs())

/** Keys and values of one line, in order, without its time. */
function fieldsOf(write: (log: ReturnType<typeof accessLog>) => void): [string, unknown][] {
  const lines: string[] = []
  write(accessLog(createLogger('info', { write: (line) => lines.push(line) })))
  expect(lines).toHaveLength(1)
  return Object.entries(JSON.parse(lines[0] ?? '') as object).filter(([name]) => name !== 'time')
}

const own = [
  ['level', 'info'],
  ['component', 'http'],
  ['requestId', 'id-1'],
  ['durationMs', 1.235],
  ['bytes', 678],
  ['terraformVersion', '1.9.0'],
  ['remoteAddr', '127.0.0.1'],
]
const asked = [
  ['method', 'GET'],
  ['path', '/depot/ui/v1/resources'],
  ['status', 200],
]
const said = ['msg', 'request']
const everything = [...own, ...Object.entries(caller), ...asked, ...Object.entries(subject), said]

it.each(ways)(
  'writes who asked for what, with the fields in the same order each time: DEPOT_PLAIN=%s',
  (plain) => {
    vi.stubEnv('DEPOT_PLAIN', plain)
    const facts = { ...caller, ...subject, subject: 'somebody' }
    expect(fieldsOf((log) => log({ ...request, facts }))).toEqual(everything)
  },
)

it('writes the same for a ready answer, the first time and later', () => {
  const answer = new ReadyAnswer('{}', {}, subject)
  for (let times = 0; times < 3; times += 1) {
    expect(fieldsOf((log) => log({ ...request, facts: caller }, answer))).toEqual(everything)
  }
})

it.each(ways)('leaves out unknown fields: DEPOT_PLAIN=%s', (plain) => {
  vi.stubEnv('DEPOT_PLAIN', plain)
  const facts = { view: 'all', name: 'network' }
  expect(fieldsOf((log) => log({ ...request, facts }))).toEqual([
    ...own,
    ['view', 'all'],
    ...asked,
    ['name', 'network'],
    said,
  ])
})

it.each(ways)('cuts long fields: DEPOT_PLAIN=%s', (plain) => {
  vi.stubEnv('DEPOT_PLAIN', plain)
  const facts = {
    name: 'n'.repeat(300),
    refusal: { reason: 'issuer', message: 'm'.repeat(2000) },
  }
  expect(fieldsOf((log) => log({ ...request, facts }))).toEqual([
    ...own,
    ['err', { reason: 'issuer', message: 'm'.repeat(1024) }],
    ...asked,
    ['name', 'n'.repeat(256)],
    said,
  ])
})

it.each(ways)('writes nothing below the level of its logger: DEPOT_PLAIN=%s', (plain) => {
  vi.stubEnv('DEPOT_PLAIN', plain)
  const lines: string[] = []
  const log = createLogger('error', { write: (line) => lines.push(line) })
  accessLog(log)({ ...request, facts: {} })
  expect(lines).toEqual([])
})
