import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { cpuTimeMs } from '../../../../hack/testbed/cpu-time.ts'
import { createLogger } from '../../../base/telemetry/telemetry.ts'
import { folderObjects } from '../store.ts'

const log = createLogger('silent')
const own = 'versions/team/vpc-1-0-0.yaml'
const separate = 'configmaps/team/vpc-1-0-0-readme.yaml'
const ref = { kind: 'Version', namespace: 'team', name: 'vpc-1-0-0' } as const
const theirs = `---
# Ours to keep.
apiVersion: v1
kind: ConfigMap
metadata: { name: "theirs",   namespace: team }
data: { "a": 'b' }
`
let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'depot-readme-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'modules'))
  write('modules/vpc.yaml', moduleText('vpc'))
})

const write = (file: string, text: string) => writeFileSync(join(dir, file), text)
const read = (file: string) => readFileSync(join(dir, file), 'utf8')
const open = () =>
  folderObjects({ dir, apiGroup: 'depot.internal', watch: false, restMs: 200, log })

const moduleText = (name: string) => `apiVersion: depot.internal/v1alpha1
kind: Module
metadata: { name: ${name}, namespace: team }
spec:
  moduleConfig: { name: vpc, provider: aws }
`

const other = `---\n${moduleText('dns')}`

async function created(objects: Awaited<ReturnType<typeof open>>, readme: string) {
  const { name = '', uid = '' } = objects.get('Module', 'team', 'vpc')?.metadata ?? {}
  const apiVersion = 'depot.internal/v1alpha1'
  const made = await objects.apply({
    kind: 'Version',
    metadata: {
      name: ref.name,
      namespace: 'team',
      ownerReferences: [{ apiVersion, kind: 'Module', name, uid, controller: true }],
    },
    spec: { type: 'Module', version: '1.0.0', moduleConfigRef: { name, provider: 'aws' } },
  })
  await objects.writeReadme(made, { readme })
  return objects.writeStatus(made, { synced: true })
}

/** Opens the folder again, as after a change of a person, and changes the README. */
async function changed(readme: string) {
  const objects = await open()
  const version = objects.get('Version', 'team', ref.name)
  if (version === undefined) throw new Error('the Version is not there')
  const had = await objects.hasReadme(version, ['README.md'])
  await objects.writeReadme(version, { readme })
  return { objects, version, had }
}

/** The texts of all READMEs in a file. */
const readmesIn = (file: string) =>
  parseAllDocuments(read(file))
    .map((one) => one.toJS() as { readonly data?: Readonly<Record<string, string>> } | null)
    .flatMap((one) => one?.data?.['README.md'] ?? [])
    .map((text) => Buffer.from(text, 'base64').toString())

describe('documents of a person in the file of a Version', () => {
  it.each(['behind', 'before'])('stay byte for byte %s its README', async (place) => {
    await created(await open(), '# First one')
    const [version, readme] = read(own).split(/(?=^---)/m)
    const parts = place === 'behind' ? [version, readme, theirs] : [version, theirs, readme]
    write(own, parts.join(''))
    const { objects, had } = await changed('# Second one')
    expect(had).toBe(true)
    expect(read(own)).toContain(theirs)
    expect(readmesIn(own)).toEqual(['# Second one'])
    await objects.delete(ref)
    expect(read(own)).toBe(theirs)
  })

  it('stay when the Version changes or returns', async () => {
    const objects = await open()
    await created(objects, '# First one')
    write(own, read(own) + theirs)
    await objects.fresh(ref.kind, ref.namespace, ref.name)
    const version = objects.get('Version', 'team', ref.name)
    if (version !== undefined) await objects.writeStatus(version, { synced: false })
    expect(read(own).endsWith(theirs)).toBe(true)
    await objects.delete(ref)
    await created(objects, '# Second one')
    expect(read(own).startsWith(theirs)).toBe(true)
    expect(readmesIn(own)).toEqual(['# Second one'])
    expect((await open()).get('Version', 'team', ref.name)?.status).toEqual({ synced: true })
  })

  it.each(['---', '---\n', '---\n# To be filled.\n', '---\n---\n'])(
    'stay although they are empty: %j',
    async (empty) => {
      await created(await open(), '# First one')
      const [text = ''] = read(own).split(/(?=^---)/m)
      write(own, text + empty)
      const { objects, version, had } = await changed('# Second one')
      expect(had).toBe(false)
      expect(read(own).startsWith(text + empty)).toBe(true)
      expect(readmesIn(own)).toEqual(['# Second one'])
      await objects.writeReadme(version, undefined)
      write(own, text + empty)
      const found = await objects.fresh(ref.kind, ref.namespace, ref.name)
      if (found !== undefined) await objects.writeStatus(found, { synced: false })
      expect(read(own)).toBe(text.replace('synced: true', 'synced: false') + empty)
    },
  )
})

describe('a README in the file of a Version', () => {
  it.each([
    ['by git autocrlf', (text: string) => text.replaceAll('\n', '\r\n')],
    [
      'by a formatter',
      (text: string) => text.replace(/(---\n)(apiVersion: v1\n)(kind: .*\n)/, '$1\n$3$2'),
    ],
    ['with quotes', (text: string) => text.replace(': vpc-1-0-0-readme', ': "vpc-1-0-0-readme"')],
    [
      'as JSON',
      (text: string) => text.replace(/(?<=---\n)[^]*/, (one) => `${JSON.stringify(parse(one))}\n`),
    ],
  ])('is written once after it was rewritten %s', async (_, rewrite) => {
    await created(await open(), '# First one')
    const text = rewrite(read(own))
    expect(text).not.toBe(read(own))
    write(own, text)
    const { objects, had } = await changed('# Second one')
    expect(had).toBe(true)
    expect(readmesIn(own)).toEqual(['# Second one'])
    await objects.delete(ref)
    expect(existsSync(join(dir, own))).toBe(false)
  })

  describe.each([
    ['was moved', () => renameSync(join(dir, own), join(dir, 'moved.yaml')), 'moved.yaml', ''],
    ['has another object', () => write(own, read(own) + other), own, other],
  ])('whose file %s', (_, change, file, rest) => {
    const textLeft = () => (existsSync(join(dir, file)) ? read(file) : '')

    it('moves to a separate file', async () => {
      await created(await open(), '# First one')
      change()
      const { objects, had } = await changed('# Second one')
      expect(had).toBe(true)
      expect(readmesIn(file)).toEqual([])
      expect(readmesIn(separate)).toEqual(['# Second one'])
      await objects.delete(ref)
      expect(existsSync(join(dir, separate))).toBe(false)
      expect(textLeft()).toBe(rest)
    })

    it('is removed with the Version', async () => {
      await created(await open(), '# First one')
      change()
      await (await open()).delete(ref)
      expect(textLeft()).toBe(rest)
    })
  })

  it('is not written late if its file got another object before', async () => {
    const objects = await open()
    const version = await created(objects, '# First one')
    const text = read(own)
    await objects.writeStatus(version, { synced: false }, { isProgress: true })
    await objects.writeReadme(version, { readme: '# Late one' })
    write(own, text + other)
    const report = async (synced: boolean) => {
      const found = await objects.fresh('Version', 'team', ref.name)
      if (found !== undefined) await objects.writeStatus(found, { synced })
    }
    await report(false)
    write(own, text)
    rmSync(join(dir, 'versions/team/vpc-1-0-0.status.yaml'))
    await report(false)
    expect(readmesIn(own)).toEqual(['# First one'])
  })

  it('gives way to the separate file that an earlier release wrote since', async () => {
    await created(await open(), '# First one')
    const [version = '', readme = ''] = read(own).split(/(?=^---)/m)
    mkdirSync(join(dir, 'configmaps/team'), { recursive: true })
    write(
      separate,
      readme.slice('---\n'.length).replace(/README.md: .*/, 'README.md: IyBOZXdlcgo='),
    )
    const { had } = await changed('# Newer\n')
    expect(had).toBe(false)
    expect(readmesIn(separate)).toEqual(['# Newer\n'])
    expect(read(own)).toBe(version)
  })

  it('does not block a Version whose file an earlier release removed', async () => {
    const objects = await open()
    await created(objects, '# First one')
    write(own, read(own).replace(/^[^]*?(?=^---)/m, ''))
    const again = await open()
    expect(again.get('Version', 'team', ref.name)).toBeUndefined()
    await created(again, '# Second one')
    expect(readmesIn(own)).toEqual(['# Second one'])
    expect(parseAllDocuments(read(own))).toHaveLength(2)
  })

  it('is found in a file of 2,000 Versions without parsing them all', async () => {
    const versions = Array.from({ length: 2000 }, (_, n) => {
      const moduleConfigRef = { name: 'vpc', provider: 'aws' }
      const spec = { type: 'Module', version: `1.0.${n}`, moduleConfigRef }
      const metadata = { name: `vpc-1-0-${n}`, namespace: 'team' }
      return stringify({ apiVersion: 'depot.internal/v1alpha1', kind: 'Version', metadata, spec })
    })
    const text = versions.join('---\n')
    write('all.yaml', text)
    const objects = await open()
    const version = objects.get('Version', 'team', ref.name)
    assert(version !== undefined)
    const beforeMs = cpuTimeMs()
    for (let count = 0; count < 5; count += 1) await objects.hasReadme(version, ['README.md'])
    const askedMs = cpuTimeMs()
    parseAllDocuments(text)
    expect((askedMs - beforeMs) / 5).toBeLessThan((cpuTimeMs() - askedMs) / 4)
  })
})
