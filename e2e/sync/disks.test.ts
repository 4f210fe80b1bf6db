import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

/*
 * Disks that refuse writes. Root is never refused, so the program runs without root's capabilities. Another user might not be
 * able to read the program.
 */

const withoutRights =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []
let upstreams: Upstreams
let registry: Registry

const depot = `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: { name: main, namespace: team }
spec:
  global: { storageConfig: { fileSystem: { directoryPath: depot } } }
  moduleConfigs: [{ name: vpc, provider: aws, repoOwner: acme }]
`

beforeAll(async () => {
  upstreams = await startUpstreams()
  // Larger than a status, and not compressible.
  const noise = Array.from({ length: 20_000 }, (_, index) => Math.sin(index).toString(36)).join('')
  upstreams.github.tag('acme/vpc', 'v1.0.0', { 'main.tf': `# ${noise}\n` })
})
afterAll(() => upstreams?.[Symbol.asyncDispose]())

beforeEach(() => {
  registry = new Registry()
  writeFileSync(join(registry.manifests, 'main.yaml'), depot)
})
afterEach(() => {
  chmodSync(registry.archives, 0o755)
  registry.remove()
})

/** `depot sync`, to its end. */
async function sync(limit = 'unlimited') {
  const flags = ['--manifests', registry.manifests, '--archives', registry.archives]
  const spool = ['--spool-dir', join(registry.dir, 'spool')]
  const program = [
    ...withoutRights,
    process.execPath,
    ...depotArguments('sync'),
    ...flags,
    ...spool,
    ...upstreams.flags,
  ]
  // Without the trap, the limit ends the process. A full disk gives it an error.
  const shell = `trap '' XFSZ; ulimit -f ${limit}; exec "$@"`
  const child = spawn('bash', ['-c', shell, 'sync', ...program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number]>
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await exited
  return { status, output, errors }
}

interface Stored {
  readonly status: { readonly synced: boolean; readonly conditions: readonly Condition[] }
}
interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

function condition(type: string): Condition | undefined {
  const file = join(registry.manifests, 'versions/team/vpc-1-0-0.yaml')
  const { status } = parse(readFileSync(file, 'utf8')) as Stored
  return status.conditions.find((one) => one.type === type)
}

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

/** Counted without their documentation. */
const archivesStored = () =>
  filesIn(registry.archives).filter((name) => !name.endsWith('.docs.json.gz'))

it('archives that cannot be written are reported, and stored once that is possible', async () => {
  chmodSync(registry.archives, 0o555)
  const outright = await sync()
  expect(outright.status).toBe(2)
  expect(outright.errors).toContain(registry.archives)
  chmodSync(registry.archives, 0o755)

  const place = join(registry.archives, 'depot')
  mkdirSync(place, { mode: 0o555 })
  const refused = await sync()
  expect(refused.status).toBe(1)
  expect(refused.output).toContain('0 of 1 versions are stored')
  expect(condition('Stored')).toMatchObject({
    status: 'False',
    reason: 'StorageFailed',
    message: expect.stringContaining('not allowed: check the mount') as string,
  })
  expect(filesIn(registry.archives)).toEqual([])

  chmodSync(place, 0o755)
  expect(await sync()).toMatchObject({ status: 0 })
  expect(archivesStored()).toHaveLength(1)
})

it('archives that cannot be read are not treated as lost', async () => {
  expect(await sync()).toMatchObject({ status: 0 })
  const stored = filesIn(registry.archives)
  chmodSync(registry.archives, 0o000)
  await sync()
  chmodSync(registry.archives, 0o755)
  expect(filesIn(registry.archives)).toEqual(stored)
  expect(await sync()).toMatchObject({ status: 0 })
  expect(condition('Ready')).toMatchObject({ status: 'True' })
  expect(filesIn(registry.archives)).toEqual(stored)
})

it('a full disk leaves no partial file, and the refused archive is stored later', async () => {
  // In units of 1,024 bytes: statuses fit, the archive does not.
  const full = await sync('64')
  expect(full.status).toBe(1)
  expect(condition('Ready')).toMatchObject({ status: expect.not.stringMatching('True') as string })
  expect(filesIn(registry.archives)).toEqual([])
  // The list of the upstream is cached.
  const spooled = filesIn(join(registry.dir, 'spool'))
  expect(spooled.filter((name) => !name.endsWith('.json'))).toEqual([])

  expect(await sync()).toMatchObject({ status: 0 })
  expect(archivesStored()).toHaveLength(1)
})
