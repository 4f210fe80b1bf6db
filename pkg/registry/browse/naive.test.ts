import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Resource } from '../../api/v1alpha1/v1alpha1.ts'
import type { RegistryError } from '../../base/errors/errors.ts'
import { type Binding, compileBinding } from '../access/access.ts'
import type { CallerView } from '../auth/auth.ts'
import { Catalog } from '../catalog/catalog.ts'
import type { CountedDownload } from '../downloads/downloads.ts'
import { createBrowse } from './browse.ts'
import { callersSeeing } from './callers.fixture.ts'
import { naiveAnswer } from './naive-answers.fixture.ts'
import type { Viewer } from './naive-model.fixture.ts'
import { change, download, parsed, question, registry, viewer } from './random-registry.fixture.ts'

/** A server whose caller can be chosen, with the objects that it was given. */
class Compared {
  readonly #objects = new Map<string, Resource>()
  /** By archive. */
  readonly #downloads = new Map<string, CountedDownload>()
  readonly #bindings = new Map<string, Binding>()
  #catalog = new Catalog()
  #viewer: Viewer = 'all'
  #revision = 0
  #app = this.#serve()

  #serve() {
    const { routes: app } = createBrowse({
      catalog: this.#catalog,
      auth: callersSeeing(() => this.#viewOf(this.#viewer)),
      clock: () => 0,
    })
    app.onError((error) => new Response(null, { status: (error as RegistryError).status ?? 500 }))
    return app
  }

  /** The same binding for the same rules, as in a server: its view survives changes. */
  #viewOf(caller: Viewer): CallerView {
    if (caller === 'all' || caller === 'public') return caller
    const name = JSON.stringify(caller)
    const metadata = {
      name,
      namespace: '',
      uid: '',
      resourceVersion: '',
      labels: {},
      creationTimestamp: '',
      ownerReferences: [],
    }
    const binding =
      this.#bindings.get(name) ?? compileBinding({ kind: 'GroupBinding', metadata, spec: caller })
    this.#bindings.set(name, binding)
    return binding
  }

  put(raw: Parameters<typeof parsed>[0]): void {
    this.#revision += 1
    const resource = parsed(raw, this.#revision)
    this.#objects.set(keyOf(resource), resource)
    this.#catalog.apply({ type: 'upsert', resource })
  }

  drop(raw: Parameters<typeof parsed>[0]): void {
    const resource = parsed(raw, 0)
    const { kind, metadata } = resource
    this.#objects.delete(keyOf(resource))
    this.#catalog.apply({
      type: 'delete',
      kind,
      namespace: metadata.namespace,
      name: metadata.name,
    })
  }

  /** Counts more downloads of an archive. */
  record({ count, lastAt, ...archive }: CountedDownload): void {
    const key = JSON.stringify(archive)
    const before = this.#downloads.get(key) ?? { count: 0, lastAt: 0 }
    const whole = {
      ...archive,
      count: before.count + count,
      lastAt: Math.max(before.lastAt, lastAt),
    }
    this.#downloads.set(key, whole)
    this.#catalog.setDownloads([whole])
  }

  /** Rebuilds the catalog from the current objects. */
  async rebuild(): Promise<void> {
    this.#catalog = new Catalog()
    const objects = [...this.#objects.values()]
    for (const kind of new Set(objects.map((object) => object.kind))) {
      const replacement = this.#catalog.beginReplace(kind)
      for (const object of objects) if (object.kind === kind) replacement.add(object)
      await replacement.commit()
    }
    this.#catalog.setDownloads(this.#downloads.values())
    this.#app = this.#serve()
  }

  async answer(caller: Viewer, path: string): Promise<unknown> {
    this.#viewer = caller
    const response = await this.#app.request(`/depot/ui/v1${path}`)
    if (response.status !== 200) return response.status
    const body: unknown = JSON.parse(await response.text(), (key, value: unknown) =>
      unmodelled.has(key) ? undefined : value,
    )
    return body
  }

  wanted(caller: Viewer, path: string): unknown {
    const world = { objects: [...this.#objects.values()], downloads: [...this.#downloads.values()] }
    const body = naiveAnswer(world, caller, path)
    return body === undefined ? 404 : JSON.parse(JSON.stringify(body))
  }
}

/** Matches times and sentences. */
const unmodelled: ReadonlySet<string> = new Set(['generatedAt', 'message', 'except'])

const keyOf = ({ kind, metadata }: Resource) => `${kind} ${metadata.namespace}/${metadata.name}`

const asked = fc.tuple(viewer, question)

it('answers like plain loops over the objects', { timeout: 300_000 }, async () => {
  let comparisons = 0
  await fc.assert(
    fc.asyncProperty(
      registry,
      fc.array(asked, { minLength: 40, maxLength: 40 }),
      async ({ objects, downloads }, questions) => {
        const compared = new Compared()
        for (const object of objects) compared.put(object)
        for (const count of downloads) compared.record(count)
        for (const [caller, path] of questions) {
          const answer = await compared.answer(caller, path)
          expect({ caller, path, answer }).toEqual({
            caller,
            path,
            answer: compared.wanted(caller, path),
          })
          comparisons += 1
        }
      },
    ),
    { seed: 6, numRuns: 300, endOnFailure: true },
  )
  expect(comparisons).toBeGreaterThanOrEqual(12_000)
})

it('answers the same after any sequence of changes as after a fresh start', {
  timeout: 300_000,
}, async () => {
  let comparisons = 0
  await fc.assert(
    fc.asyncProperty(
      registry,
      fc.array(
        fc.tuple(
          fc.oneof({ weight: 5, arbitrary: change }, { weight: 1, arbitrary: download }),
          fc.array(asked, { minLength: 2, maxLength: 2 }),
        ),
        { minLength: 20, maxLength: 20 },
      ),
      async ({ objects }, steps) => {
        const compared = new Compared()
        for (const object of objects) compared.put(object)
        const answers: unknown[] = []
        const last = steps.at(-1)?.[1] ?? []
        for (const [step, questions] of steps) {
          if (!('object' in step)) compared.record(step)
          else if (step.isGone) compared.drop(step.object)
          else compared.put(step.object)
          for (const [caller, path] of questions) {
            const answer = await compared.answer(caller, path)
            expect({ caller, path, answer }).toEqual({
              caller,
              path,
              answer: compared.wanted(caller, path),
            })
            if (questions === last) answers.push(answer)
            comparisons += 1
          }
        }
        await compared.rebuild()
        for (const [index, [caller, path]] of last.entries())
          expect(await compared.answer(caller, path)).toEqual(answers[index])
      },
    ),
    { seed: 6, numRuns: 250, endOnFailure: true },
  )
  expect(comparisons).toBeGreaterThanOrEqual(10_000)
})
