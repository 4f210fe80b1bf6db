import { get, type IncomingMessage } from 'node:http'
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { oidcOptions, TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { AccessFixture } from '../pkg/registry/server/access.fixture.ts'
import { startServer } from '../pkg/registry/server/server.ts'

/*
 * Which files of ours a request enters: a list of versions, asked for again with a known token. Counted by the coverage of a
 * running process, so it is what happens and not what is imported. Prints a file a line, or with --first those of a token
 * that is new.
 */

const path = '/depot/modules/v1/platform/vpc/aws/versions'
const anyPort = { host: '127.0.0.1', port: 0 }
const root = new URL('..', import.meta.url)
const ours = ['pkg/', 'cmd/'].map((dir) => new URL(dir, root).href)

const issuer = await TestIssuer.start()
const fixture = new AccessFixture()
fixture.module('vpc')
fixture.version('Module', 'vpc', '1.0.0')
fixture.bind('team', { expression: '"platform" in groups', moduleResources: ['*'] })
const auth = fixture.auth({
  mode: 'oidc',
  oidc: oidcOptions(issuer.url),
})
await auth.started
const { catalog, archives, log, metrics } = fixture
const server = await startServer({
  catalog,
  archives,
  auth,
  log,
  metrics,
  listen: anyPort,
  adminListen: anyPort,
  waitingFor: () => [],
})
const authorization = `Bearer ${await issuer.sign()}`

async function request(): Promise<void> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${server.url}${path}`, { headers: { authorization } }, resolve).on('error', reject)
  })
  await text(answer)
  if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode}`)
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
if (!process.argv.includes('--first')) {
  for (let times = 0; times < 3; times++) await request()
}
// What was counted so far is forgotten by being taken.
await session.post('Profiler.takePreciseCoverage')
await request()
const { result } = await session.post('Profiler.takePreciseCoverage')
session.disconnect()

const entered = result
  .filter(({ url }) => ours.some((dir) => url.startsWith(dir)) && !url.includes('.fixture.'))
  .filter(({ functions }) => functions.some((it) => it.ranges.some(({ count }) => count > 0)))
  .map(({ url }) => relative(fileURLToPath(root), fileURLToPath(url)))
console.log(entered.toSorted().join('\n'))

await server.stop(0)
await auth.close()
issuer.stop()
fixture[Symbol.dispose]()
process.exit()
