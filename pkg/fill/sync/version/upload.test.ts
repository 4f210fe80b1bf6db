import { expect, it } from 'vitest'
import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { createLogger } from '../../../base/telemetry/telemetry.ts'
import type { Objects } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { forgetPublication, notePublication, publishedOf, sweepPublications } from './upload.ts'

function notesOf(known = new Map<string, string>()) {
  return {
    known,
    all: async () => known,
    get: async (key: string) => known.get(key),
    put: async (key: string, text: string) => void known.set(key, text),
    drop: async (key: string) => void known.delete(key),
  }
}

const sha256 = 'a'.repeat(64)
const versionOf = (publication: string | undefined, name = 'vpc-1-0-0', status?: object) =>
  ({
    kind: 'Version',
    metadata: { namespace: 'team', name },
    spec: {
      type: 'Module',
      version: '1.0.0',
      moduleConfigRef: { name: 'vpc' },
      upload: { sha256, publication },
    },
    status,
  }) as unknown as Version
const publisher = { by: 'repo:acme/vpc:ref:refs/tags/v1.0.0', issuer: 'https://ci.test' }

const notedAs = (name: string) => ({
  namespace: 'team',
  name,
  version: '1.0.0',
  config: 'vpc',
  sha256,
})

it('gives a Version its publisher once, and no other Version that names the same note', async () => {
  const publications = notesOf()
  const context = { objects: { publications } as unknown as Objects }
  const id = await notePublication(publications, notedAs('vpc-1-0-0'), publisher, Date.now)
  const at = expect.stringMatching(/^\d{4}-.*Z$/) as string
  expect(await publishedOf(context, versionOf(id), sha256)).toEqual({ ...publisher, at })
  expect(await publishedOf(context, versionOf(id, 'forged'), sha256)).toBeUndefined()
  expect(await publishedOf(context, versionOf(id), 'b'.repeat(64))).toBeUndefined()
  expect(await publishedOf(context, versionOf('invented'), sha256)).toBeUndefined()
  expect(await publishedOf(context, versionOf(undefined), sha256)).toBeUndefined()
  const own = versionOf(id)
  const others = [{ version: '2.0.0' }, { moduleConfigRef: { name: 'dns' } }]
  for (const other of others) {
    const spec = { ...own.spec, ...other }
    expect(await publishedOf(context, { ...own, spec }, sha256)).toBeUndefined()
  }
  const done = versionOf(id, 'vpc-1-0-0', { published: publisher })
  expect(await publishedOf(context, done, sha256)).toBeUndefined()
  await forgetPublication(context, done)
  expect(publications.known.size).toBe(0)
})

it('removes what a kill left, and nothing that a Version waits for', async () => {
  const publications = notesOf()
  const noteOf = (name: string) => notePublication(publications, notedAs(name), publisher, Date.now)
  const ids = {
    waits: await noteOf('waits'),
    done: await noteOf('done'),
    gone: await noteOf('gone'),
  }
  const versions = new Map([
    ['waits', versionOf(ids.waits, 'waits')],
    ['done', versionOf(ids.done, 'done', { published: publisher })],
  ])
  const get = (_kind: string, _namespace: string, name: string) => versions.get(name)
  const log = createLogger('silent')
  const sweepAt = (nowMs: number) =>
    sweepPublications({
      objects: { publications, get },
      clock: () => nowMs,
      log,
    } as unknown as Context)
  await sweepAt(Date.now())
  expect(publications.known.size).toBe(3)
  await sweepAt(Date.now() + 3_700_000)
  expect([...publications.known.keys()]).toEqual([ids.waits])
  publications.all = () => Promise.reject(new Error('forbidden'))
  await sweepAt(Date.now())
})
