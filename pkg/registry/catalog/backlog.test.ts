import { describe, expect, it, vi } from 'vitest'
import { type Kind, parseResource, type Resource } from '../../api/v1alpha1/v1alpha1.ts'
import { Backlog } from './backlog.ts'
import { Catalog } from './catalog.ts'

interface Job {
  readonly name: string
  left: number
}

/** Creates jobs with these numbers of units. A slice does 10. */
function backlogOf(...units: number[]) {
  const worked: string[] = []
  const backlog = new Backlog<Job>({
    work: (job, maxUnits) => {
      const done = Math.min(job.left, maxUnits)
      job.left -= done
      worked.push(`${job.name} ${done}`)
      return { units: done, isDone: job.left === 0 }
    },
    sliceUnits: 10,
  })
  const jobs = units.map((left, index) => ({ name: 'abc'.charAt(index), left }))
  for (const job of jobs) backlog.add(job)
  return { backlog, jobs: jobs as [Job, ...Job[]], worked }
}

describe('a backlog', () => {
  it('finishes an item before it begins the next', () => {
    const { backlog, worked } = backlogOf(15, 12)
    for (let slice = 0; slice < 3; slice += 1) backlog.advance()
    expect(worked).toEqual(['a 10', 'a 5', 'b 5', 'b 7'])
    expect(backlog.size).toBe(0)
  })

  it('counts the item in progress, and continues it on request', async () => {
    const { backlog, jobs, worked } = backlogOf(35)
    backlog.advance()
    expect(backlog.size).toBe(1)
    backlog.advanceOn(jobs[0])
    expect(backlog.size).toBe(1)
    backlog.advanceOn(jobs[0])
    backlog.advanceOn(jobs[0])
    expect(worked).toEqual(['a 10', 'a 10', 'a 10', 'a 5'])
    expect(backlog.size).toBe(0)
    await backlog.empty
  })

  it('continues with others if the item in progress changes', () => {
    const { backlog, jobs, worked } = backlogOf(15, 10)
    backlog.advance()
    backlog.add(jobs[0])
    expect(backlog.size).toBe(2)
    backlog.advance()
    backlog.advance()
    expect(worked).toEqual(['a 10', 'b 10', 'a 5'])
    expect(backlog.size).toBe(0)
  })

  it('waits for the first reader, and then works in the background', async () => {
    vi.useFakeTimers()
    try {
      const { backlog, jobs, worked } = backlogOf(15, 10)
      await vi.runAllTimersAsync()
      expect(worked).toEqual([])
      backlog.work()
      await vi.runAllTimersAsync()
      expect(worked).toEqual(['a 10'])
      const empty = backlog.empty
      await vi.runAllTimersAsync()
      await empty
      backlog.add({ ...jobs[0], left: 5 })
      await vi.runAllTimersAsync()
      expect(worked).toEqual(['a 10', 'a 5', 'b 5', 'b 5', 'a 5'])
    } finally {
      vi.useRealTimers()
    }
  })
})

function parse(kind: Kind, name: string, spec: object): Resource {
  const parsed = parseResource(kind, { metadata: { name, namespace: 'team' }, spec })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

class Registry {
  readonly #catalog = new Catalog({ firstBy: 'arrival' })

  putModules(count: number, moduleConfig: object = {}): this {
    for (let index = 0; index < count; index += 1) {
      this.#put(parse('Module', `m${index}`, { moduleConfig }))
    }
    return this
  }

  /** This number of Versions for each module, one after the other. */
  putVersions(modules: number, each: number): this {
    for (let index = 0; index < modules * each; index += 1) {
      const name = `m${Math.floor(index / each)}`
      const version = `1.${index % each}.0`
      const spec = { type: 'Module', version, fileName: 'a.zip', moduleConfigRef: { name } }
      this.#put(parse('Version', `${name}-${index % each}`, spec))
    }
    return this
  }

  /** Number of slices until nothing is left, up to a limit. */
  slices(limit: number): number {
    const { model } = this.#catalog
    let slices = 0
    while (!model.settled && slices < limit) slices += Number(model.revision >= 0)
    return slices
  }

  /** Versions that are counted so far, as in a scrape of metrics. */
  get counted(): number {
    const { synced, unsynced, failed, unservable } = this.#catalog.versionStates().Module
    return synced + unsynced + failed + unservable
  }

  #put(resource: Resource): void {
    this.#catalog.apply({ type: 'upsert', resource })
  }
}

describe('the sums of many large parents', () => {
  const rowsPerSlice = 500

  it.each([
    [3, 6000],
    [20, 2000],
  ])('are completed for %i parents with %i Versions each', (modules, each) => {
    const registry = new Registry().putModules(modules).putVersions(modules, each)
    const most = (modules * each) / rowsPerSlice + modules
    expect(registry.slices(2 * most)).toBeLessThanOrEqual(most)
  })

  it('are complete again after a change of every parent', () => {
    const registry = new Registry().putModules(20).putVersions(20, 1500)
    const most = (20 * 1500) / rowsPerSlice + 20
    expect(registry.slices(2 * most)).toBeLessThanOrEqual(most)
    registry.putModules(20, { storageConfig: { s3: { bucket: 'archives', region: 'eu-west-1' } } })
    expect(registry.slices(2 * most)).toBeLessThanOrEqual(most)
  })

  it('are not completed by a reader who counts them, unless little work is left', () => {
    const registry = new Registry().putModules(20).putVersions(20, 10)
    expect([registry.counted, registry.counted]).toEqual([0, 0])
    registry.slices(10)
    expect(registry.counted).toBe(200)
    registry.putModules(1, { fileFormat: 'zip' })
    expect(registry.counted).toBe(200)
    expect(registry.slices(1)).toBe(0)
  })
})
