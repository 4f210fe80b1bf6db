import { spawn, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { runProgram } from '../../hack/testbed/program/program.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { depot, depotCommand, fingerprints, put } from '../import/import.fixture.ts'
import { runPublish } from './publish.fixture.ts'

const root = mkdtempSync(join(tmpdir(), 'depot-publish-test-'))
afterAll(() => rmSync(root, { recursive: true }))
let dir = ''
let count = 0
beforeEach(() => {
  dir = join(root, String(++count))
  mkdirSync(join(dir, 'tmp'), { recursive: true })
  put(join(dir, 'vpc/main.tf'), 'variable "cidr" {\n  type = string\n}\n')
  put(join(dir, 'vpc/README.md'), '# VPC\n')
})

const flags = ['--to', 'network/vpc/aws', '--direct', '--manifests', 'registry']

const run = (words: readonly string[]) => runPublish(dir, words)
const publish = (version: string, ...more: readonly string[]) =>
  run(['module', 'vpc', ...flags, '--version', version, ...more])
const change = (text: string) => put(join(dir, 'vpc/main.tf'), text)

interface Written {
  readonly spec: { readonly version: string; readonly upload: { fileName: string; sha256: string } }
}
const texts = (): string[] =>
  globSync(join(dir, 'registry/versions/network/*.yaml')).map((file) => readFileSync(file, 'utf8'))
/** Without their READMEs, which follow in the same files. */
const written = (): Written[] =>
  texts().map((text) => parseAllDocuments(text)[0]?.toJS() as Written)
const stored = (fileName: string) => readFileSync(join(dir, 'archives/archives/vpc', fileName))

describe('into a folder', () => {
  it('stores the archive and writes a Version that the registry can serve', async () => {
    const { status, stdout, stderr } = await publish('v1.0.0')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('network/vpc/aws 1.0.0, a new module\nfiles: 2\n')
    expect(stdout).toContain('interface: 1 input (1 required), 0 outputs')
    const [version, ...others] = written()
    expect(others).toEqual([])
    const { fileName = '', sha256 } = version?.spec.upload ?? {}
    expect(hash('sha256', stored(fileName))).toBe(sha256)
    const lint = await runProgram(dir, ['lint', 'registry', '--archives', 'archives'])
    expect(lint).toMatchObject({ status: 0, stderr: '' })
    expect(texts()).toEqual([
      expect.stringContaining(Buffer.from('# VPC\n').toString('base64')) as string,
    ])
  })

  it('does nothing for a version that has these files, and refuses other files with both digests', async () => {
    await publish('1.0.0')
    const before = fingerprints(join(dir, 'registry/versions'))
    expect(await publish('1.0.0')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('network/vpc/aws 1.0.0 was published already\n'),
    })
    change('locals {}\n')
    const { status, stdout, stderr } = await publish('1.0.0', '-o', 'json')
    const { archive, outcome, refusals } = JSON.parse(stdout) as Record<string, unknown>
    expect({ status, outcome }).toEqual({ status: 1, outcome: 'refused' })
    const digests = [written()[0]?.spec.upload.sha256, (archive as { sha256: string }).sha256]
    for (const digest of digests) expect(stderr).toContain(digest)
    expect(refusals).toMatchObject([{ reason: 'VersionExists' }])
    expect(fingerprints(join(dir, 'registry/versions'))).toEqual(before)
  })

  it('writes nothing with --dry-run, and exits with the same status as publishing', async () => {
    await publish('1.0.0')
    const ours = () => fingerprints(dir).filter((line) => !/^(?:vpc|tmp)/.test(line))
    const before = ours()
    change('')
    const later = await publish('1.1.0', '--dry-run')
    expect(later).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(
        /compared: with 1\.0\.0, breaking\nBreaking:\n {2}input cidr: .*\nit would be published\n$/,
      ),
      stderr: 'depot: warning: 1.1.0 breaks callers of 1.0.0; publish it as a new major version\n',
    })
    expect((await publish('1.0.0', '--dry-run')).status).toBe(1)
    expect(ours()).toEqual(before)
  })

  it.each([
    ['1.4', 'NotSemver', 'write it as 1.2.0'],
    ['1.1.0-rc.1', 'OlderVersion', 'publish 1.1.1 or later'],
    ['1.0.5', 'OlderVersion', 'publish 1.1.1 or later'],
  ])('refuses the version %s after 1.1.0: %s', async (version, _, advice) => {
    await publish('1.1.0')
    const { status, stderr } = await publish(version)
    expect(status).toBe(1)
    expect(stderr).toContain(advice)
    expect(written().map(({ spec }) => spec.version)).toEqual(['1.1.0'])
  })

  it('publishes a module that cannot be parsed, and prints file and line like depot docs', async () => {
    change('variable "x" {\n  type =\n}\n')
    const { stderr } = await runProgram(dir, ['docs', 'vpc'])
    const said = stderr.trim().replace(/^depot: /, '')
    expect(said).toMatch(/^main\.tf:2: Invalid expression: /)
    const { status, stdout } = await publish('1.0.0')
    expect(status).toBe(0)
    expect(stdout).toContain(`incomplete: ${said}\n`)
  })

  it('says that it could not compare if the files of the earlier version are missing', async () => {
    await publish('1.0.0')
    rmSync(join(dir, 'archives'), { recursive: true })
    const { status, stdout } = await publish('1.1.0', '--dry-run')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^compared: with nothing, 1\.0\.0 cannot be read: .+$/m)
    const { stdout: json } = await publish('1.1.0', '-o', 'json')
    expect(JSON.parse(json)).toMatchObject({ uncompared: { from: '1.0.0' } })
  })

  it('compares with a version whose archive was placed by hand, and refuses to publish that version again', async () => {
    put(
      join(dir, 'registry/vpc.yaml'),
      `apiVersion: depot.internal/v1alpha1
kind: Module
metadata: { name: vpc, namespace: network }
spec:
  moduleConfig: { provider: aws, storageConfig: { fileSystem: { directoryPath: modules } } }
---
apiVersion: depot.internal/v1alpha1
kind: Version
metadata: { name: vpc-1.2.0, namespace: network }
spec: { type: Module, version: 1.2.0, fileName: vpc.tar.gz, moduleConfigRef: { name: vpc } }
`,
    )
    mkdirSync(join(dir, 'archives/modules/vpc'), { recursive: true })
    const packed = [
      '-czf',
      join(dir, 'archives/modules/vpc/vpc.tar.gz'),
      '-C',
      join(dir, 'vpc'),
      '.',
    ]
    expect(spawnSync('tar', packed).status).toBe(0)
    const again = await publish('1.2.0')
    expect(again.status).toBe(1)
    expect(again.stderr).toMatch(/1\.2\.0 exists already: Version network\/vpc-1\.2\.0 names/)
    expect((await publish('1.1.0')).stderr).toContain('1.1.0 is before 1.2.0')
    change('')
    const { status, stdout } = await publish('1.3.0')
    expect(status).toBe(0)
    expect(stdout).toContain('compared: with 1.2.0, breaking')
  })

  it('accepts a patch release of an earlier minor version', async () => {
    await publish('1.0.0')
    await publish('1.1.0')
    expect((await publish('1.0.1')).status).toBe(0)
  })

  it('refuses a breaking version if the module enforces semantic versioning', async () => {
    put(
      join(dir, 'registry/module.yaml'),
      `apiVersion: depot.internal/v1alpha1
kind: Module
metadata: { name: vpc, namespace: network }
spec:
  moduleConfig:
    provider: aws
    versionPolicy: Enforce
    fileFormat: zip
    storageConfig: { fileSystem: { directoryPath: archives } }
`,
    )
    expect((await publish('1.0.0')).status).toBe(0)
    expect(written()[0]?.spec.upload.fileName).toMatch(/^vpc-1\.0\.0-[0-9a-f]{12}\.zip$/)
    change('')
    const { status, stderr } = await publish('1.1.0')
    expect(status).toBe(1)
    expect(stderr).toMatch(/breaks callers of 1\.0\.0: input cidr: .* Publish it as 2\.0\.0\n$/)
    expect((await publish('2.0.0')).status).toBe(0)
  })

  it('tells the person with the credentials of the storage what it answered', async () => {
    const bucket = createServer((_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' })
      response.end('<Error><Code>AccessDenied</Code><Message>no PutObject</Message></Error>')
    }).listen(0, '127.0.0.1')
    await once(bucket, 'listening')
    const { port } = bucket.address() as AddressInfo
    put(join(dir, 'storage.yaml'), 's3: { bucket: archives, region: eu-west-1 }\n')
    const words = [
      '--version',
      '1.0.0',
      '--storage-config',
      'storage.yaml',
      '--archives',
      'archives',
    ]
    const { status, stderr } = await runProgram(
      dir,
      ['publish', 'module', 'vpc', ...flags, ...words],
      {
        DEPOT_S3_ENDPOINT: `http://127.0.0.1:${port}`,
        AWS_ACCESS_KEY_ID: 'id',
        AWS_SECRET_ACCESS_KEY: 'key',
      },
    )
    bucket.close()
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringMatching(
        /refuses this registry \(s3 archives.*answered 403.*check AWS_ACCESS_KEY_ID/,
      ) as string,
    })
  })

  it('refuses files that look like secrets or states, unless each is accepted', async () => {
    for (const path of ['.env', 'keys/ca.PEM', 'terraform.tfstate', '.terraform/modules.json']) {
      put(join(dir, 'vpc', path), 'secret')
    }
    const { status, stderr } = await publish('1.0.0')
    const accept = '--allow-file=.env,.terraform/,keys/ca.PEM,terraform.tfstate'
    expect(status).toBe(1)
    expect(stderr).toBe(
      `depot: .env, .terraform/, keys/ca.PEM, terraform.tfstate look like secrets or states: remove them, or accept with ${accept}\n`,
    )
    const one = await publish('1.0.0', '--allow-file', '.env')
    expect(one.status).toBe(1)
    expect(one.stderr).toMatch(
      /^depot: \.terraform\/, .*accept with --allow-file=\.env,\.terraform\/,/,
    )
    const { stdout } = await publish('1.0.0', accept, '-o', 'json')
    const { files } = JSON.parse(stdout) as { files: { path: string }[] }
    // Archives never contain states.
    const paths = files.map(({ path }) => path)
    expect(paths).toEqual(['.env', 'README.md', 'keys/ca.PEM', 'main.tf'])
  })

  it.each([
    ['main.tf', 'leave it out'],
    ['ca.pem', 'did you mean keys/ca.pem?'],
    ['keys/', 'did you mean keys/ca.pem,keys/cb.pem?'],
    ['keys/cc.pem', 'did you mean keys/ca.pem?'],
  ])('refuses to accept %s, which does not look like a secret', async (name, hint) => {
    for (const path of ['keys/ca.pem', 'keys/cb.pem']) put(join(dir, 'vpc', path), 'secret')
    const names = `./keys/ca.pem,keys/cb.pem,${name}`
    const { status, stderr } = await publish('1.0.0', '--allow-file', names)
    expect(status).toBe(1)
    expect(stderr).toBe(
      `depot: --allow-file: ${name.replace(/\/$/, '')} is not a file of this module that looks like a secret or a state: ${hint}\n`,
    )
    expect((await publish('1.0.0', '--allow-file', './keys/ca.pem,keys/cb.pem')).status).toBe(0)
  })

  it('publishes the same archive from a folder and from a packed folder', async () => {
    await publish('1.0.0')
    expect(spawnSync('tar', ['-czf', 'vpc.tar.gz', 'vpc'], { cwd: dir }).status).toBe(0)
    const args = ['module', 'vpc.tar.gz', ...flags, '--version', '1.0.0']
    expect((await run(args)).stdout).toContain('was published already')
  })
})

describe('the version in a tag', () => {
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
      cwd: join(dir, 'vpc'),
      env: bareEnvironment,
      encoding: 'utf8',
    })
  const fromTag = (...more: readonly string[]) =>
    run(['module', 'vpc', ...flags, '--dry-run', '-o', 'json', ...more])

  it('is published if the checked out commit has one', async () => {
    mkdirSync(join(dir, 'registry'))
    expect((await fromTag()).stderr).toMatch(/not a git repository.*write --version\n$/)
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    const untagged = await fromTag()
    expect(untagged).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        'no tag of the checked out commit is a version such as v1.2.0',
      ),
    })
    for (const tag of ['latest', 'v1.4.0', 'vpc/v2.0.0']) git('tag', tag)
    expect(await fromTag()).toMatchObject({
      stdout: expect.stringContaining('"version": "1.4.0"'),
      stderr: '',
    })
    put(join(dir, 'vpc', 'left over.txt'), '')
    expect((await fromTag()).stderr).toMatch(
      /vpc has changes that its tag lacks, such as left over\.txt: they are published, too\n$/,
    )
    expect((await fromTag('--tag-prefix', 'vpc/')).stdout).toContain('"version": "2.0.0"')
    git('tag', '1.5.0')
    expect((await fromTag()).stderr).toContain('tags of several versions, 1.5.0, 1.4.0')
  })
})

it.each([
  [['vpc'], 'write what to publish: depot publish module FOLDER|ARCHIVE'],
  [['module', 'missing'], 'missing does not exist'],
  [['provider', 'vpc'], 'is not the address of a provider: write NAMESPACE/TYPE'],
  [['module'], 'write what to publish: depot publish module FOLDER|ARCHIVE'],
  [['module', 'vpc', '1.0.0'], '1.0.0 is too much: name one folder, in quotes if it has blanks'],
  [['provider', 'vpc.tar.gz', '--to', 'team/cmdb'], 'vpc.tar.gz is not a folder: name the folder'],
  [['module', 'vpc', '--tag-prefix=vpc/'], '--version and --tag-prefix exclude each other'],
  [['module', 'vpc', '--to', 'network/v pc/aws'], 'is not the address of a module'],
])('exits with 2 for %j', async (words, message) => {
  const to = words.includes('--to') ? flags.slice(2) : flags
  put(join(dir, 'vpc.tar.gz'), '')
  const { status, stderr } = await run([...words, ...to, '--version', '1.0.0'])
  expect(status).toBe(2)
  expect(stderr).toContain(message)
})

it('prints the version of the program for a bare --version', async () => {
  expect(await runProgram(dir, ['publish', '--version'])).toMatchObject({
    status: 0,
    stdout: `${packageJson.version}\n`,
  })
})

it('lets one of several processes publish a version, and refuses the others', async () => {
  const sources = ['a', 'b', 'c'].map((name) => {
    put(join(dir, name, 'main.tf'), `# ${name}\n`)
    return name
  })
  const results = await Promise.all(
    sources.map((source) =>
      depot(dir, ['publish', 'module', source, ...flags, '--version', '1.0.0']),
    ),
  )
  expect(results.map(({ status }) => String(status)).toSorted()).toEqual(['0', '1', '1'])
  const refused = results.filter(({ status }) => status === 1).map(({ stderr }) => stderr)
  const [{ spec } = { spec: undefined }] = written()
  for (const text of refused) expect(text).toContain(spec?.upload.sha256)
})

it('publishes all or nothing when it is killed, and continues when it runs again', async () => {
  writeFileSync(join(dir, 'vpc/large.bin'), Buffer.alloc(3_000_000, 'random'))
  const args = ['publish', 'module', 'vpc', ...flags, '--version', '1.0.0']
  const startedMs = performance.now()
  await depot(dir, args)
  const wholeMs = performance.now() - startedMs
  rmSync(join(dir, 'registry'), { recursive: true })
  rmSync(join(dir, 'archives'), { recursive: true })
  for (let kill = 1; kill <= 4; kill += 1) {
    const [command, ...program] = depotCommand
    const child = spawn(command, [...program, ...args], { cwd: dir, env: bareEnvironment })
    const exited = once(child, 'exit')
    await sleep(wholeMs * (0.4 + 0.6 * (kill / 4)))
    child.kill('SIGKILL')
    await exited
    for (const { spec } of written()) {
      expect(hash('sha256', stored(spec.upload.fileName))).toBe(spec.upload.sha256)
    }
  }
  expect((await depot(dir, args)).status).toBe(0)
  expect(written()).toHaveLength(1)
  const lint = await runProgram(dir, ['lint', 'registry', '--archives', 'archives'])
  expect(lint.status).toBe(0)
  const archives = globSync('**/*.tar.gz', { cwd: join(dir, 'archives') })
  expect(archives).toHaveLength(1)
})
