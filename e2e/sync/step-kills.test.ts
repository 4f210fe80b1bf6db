import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'

/** A step, how often it runs until it kills the process, and whether archives are being removed then. */
const filling: readonly (readonly [step: string, count: number])[] = [
  ['listed', 1],
  ['applied', 1],
  ['patched', 1],
  ['resolved', 1],
  ['downloaded', 1],
  ['downloaded', 3],
  ['checked', 1],
  ['stored', 1],
  ['stored', 4],
  ['verified', 1],
  ['readme written', 1],
  ['status written', 1],
  ['status written', 4],
]
const growing: readonly (readonly [step: string, count: number])[] = [
  ['readme written', 1],
  ['status written', 1],
  ['status written', 2],
]
const removing: readonly (readonly [step: string, count: number])[] = [
  ['status written', 1],
  ['removed', 1],
  ['removed', 3],
  ['patched', 1],
  ['patched', 2],
]

const depot = {
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'Depot',
  metadata: { name: 'main', namespace: 'team' },
  spec: {
    global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
    moduleConfigs: [
      { name: 'vpc', provider: 'aws', source: { type: 'git', url: 'https://git.test/vpc.git' } },
    ],
    providerConfigs: [{ name: 'dns', namespace: 'acme' }],
  },
}

/** A folder that was filled by a process that nothing killed. */
const filled = mkdtempSync(join(tmpdir(), 'depot-steps-'))
afterAll(() => rmSync(filled, { recursive: true }))

/** Prepares a folder in which nothing ran. */
function prepare(dir: string): void {
  for (const folder of ['manifests', 'archives']) mkdirSync(join(dir, folder))
  writeFileSync(join(dir, 'manifests/main.yaml'), stringify(depot))
}

function place(): string {
  const dir = mkdtempSync(join(tmpdir(), 'depot-steps-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

/** @returns the signal that ended it, if any */
async function run(dir: string, ...deadly: readonly (string | number)[]): Promise<string | null> {
  const args = [inject('stepwise'), dir, ...deadly.map(String)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  expect(code ?? 0).toBe(0)
  return signal
}

const filesBelow = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
        .toSorted()
    : []

/** Partial files of killed processes, which a later process removes after a day. */
const isPart = (file: string): boolean => /\/\.depot-[^/]+\.part$/.test(file)

/** All records and archives, without times. */
function stateOf(dir: string) {
  const withoutTimes = (text: string) =>
    parseAllDocuments(text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')).map(
      (document) => document.toJS() as unknown,
    )
  const manifests = join(dir, 'manifests')
  const archives = join(dir, 'archives')
  return {
    manifests: filesBelow(manifests).map((file) => [
      file,
      withoutTimes(readFileSync(join(manifests, file), 'utf8')),
    ]),
    archives: filesBelow(archives)
      .filter((file) => !isPart(file))
      .map((file) => [file, hash('sha256', readFileSync(join(archives, file)))]),
    spool: filesBelow(join(dir, 'spool')).filter((file) => !file.startsWith('listings/')),
  }
}

const withoutGenerations = (state: ReturnType<typeof stateOf>) =>
  JSON.parse(
    JSON.stringify(state).replaceAll(/"observedGeneration":\d+/g, '"observedGeneration":0'),
  ) as unknown

const created = (dir: string): string[] =>
  readFileSync(join(dir, 'stored.log'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('created '))

let whole: ReturnType<typeof stateOf>
let empty: ReturnType<typeof stateOf>

/** Removes everything that the Depot names, but not the Depot. */
function clear(dir: string): void {
  const { spec, ...rest } = depot
  const cleared = { global: spec.global, deletionPolicy: 'Delete' }
  writeFileSync(join(dir, 'manifests/main.yaml'), stringify({ ...rest, spec: cleared }))
}

beforeAll(async () => {
  prepare(filled)
  await run(filled)
  whole = stateOf(filled)
  const dir = mkdtempSync(join(tmpdir(), 'depot-steps-'))
  try {
    cpSync(filled, dir, { recursive: true, preserveTimestamps: true })
    clear(dir)
    await run(dir)
    empty = stateOf(dir)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

it('without a kill stores archives, and then removes them', () => {
  // Two modules with their documentation, two platforms with three documents.
  expect(whole.archives).toHaveLength(9)
  // One is the list of stored Versions.
  expect(whole.manifests).toHaveLength(9)
  const texts = whole.manifests.map(([, documents]) => JSON.stringify(documents))
  expect(texts.filter((text) => text.includes('"README.md":'))).toHaveLength(2)
  expect(empty.archives).toEqual([])
  expect(empty.manifests.map(([file]) => file)).toEqual(['main.status.yaml', 'main.yaml'])
})

describe('a process that is killed right after a step does not change the final state', () => {
  it.each(filling)('while it fills: %s, %i', async (step, count) => {
    const dir = place()
    prepare(dir)
    expect(await run(dir, step, count)).toBe('SIGKILL')
    expect(await run(dir)).toBeNull()
    expect(stateOf(dir)).toEqual(whole)
    expect(new Set(created(dir)).size).toBe(created(dir).length)
  })

  it.each(growing)('while its module gets a new version: %s, %i', async (step, count) => {
    const dir = place()
    prepare(dir)
    const manifest = join(dir, 'manifests/main.yaml')
    const wanted = readFileSync(manifest, 'utf8')
    writeFileSync(
      manifest,
      wanted.replace('provider: aws', 'provider: aws\n      versionConstraints: 1.0.0'),
    )
    await run(dir)
    writeFileSync(manifest, wanted)
    expect(await run(dir, step, count)).toBe('SIGKILL')
    expect(await run(dir)).toBeNull()
    // Conditions of the first version were written for another constraint.
    expect(withoutGenerations(stateOf(dir))).toEqual(withoutGenerations(whole))
    expect(new Set(created(dir)).size).toBe(created(dir).length)
  })

  it.each(removing)('while it removes: %s, %i', async (step, count) => {
    const dir = place()
    cpSync(filled, dir, { recursive: true, preserveTimestamps: true })
    clear(dir)
    expect(await run(dir, step, count)).toBe('SIGKILL')
    expect(await run(dir)).toBeNull()
    expect(stateOf(dir)).toEqual(empty)
  })
})
