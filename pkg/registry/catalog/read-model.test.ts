import { describe, expect, it, vi } from 'vitest'
import {
  type GroupBinding,
  type Kind,
  parseResource,
  type Resource,
} from '../../api/v1alpha1/v1alpha1.ts'
import { compileBinding } from '../access/access.ts'
import { Catalog, type PageRequest, type View } from './catalog.ts'

const label = { 'depot.internal/public': 'true' }
const byName: PageRequest = { sortBy: 'name', descending: false, offset: 0, limit: 100 }

function parse(kind: Kind, name: string, rest: object = {}, metadata: object = {}): Resource {
  const raw = { metadata: { name, namespace: 'platform', ...metadata }, ...rest }
  const parsed = parseResource(kind, raw)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

const module = (name: string, labels: object = {}, status: object = {}) =>
  parse('Module', name, { spec: { moduleConfig: {} }, status }, { labels })

const namespace = (name: string, labels: object = {}) =>
  parse('Namespace', name, {}, { namespace: '', labels })

const binding = (...moduleResources: string[]) =>
  compileBinding(
    parse('GroupBinding', 'binding', {
      spec: { expression: 'true', moduleResources },
    }) as GroupBinding,
  )

class Registry {
  readonly catalog = new Catalog()
  readonly model = this.catalog.model

  put(...resources: Resource[]): this {
    for (const resource of resources) this.catalog.apply({ type: 'upsert', resource })
    return this
  }

  drop(kind: Kind, name: string): void {
    this.catalog.apply({ type: 'delete', kind, namespace: 'platform', name })
  }

  names(view: View): string[] {
    return this.model.page(view, {}, byName).entries.map((entry) => entry.summary.name)
  }
}

describe('the view of a binding', () => {
  it('follows resources that are added, removed or made public', () => {
    const registry = new Registry().put(namespace('platform'), module('vpc'), module('db', label))
    const view = registry.model.viewOf(binding('v*'))
    expect(registry.names(view)).toEqual(['vpc'])
    registry.put(namespace('platform', label), module('vault'))
    expect(registry.names(view)).toEqual(['db', 'vault', 'vpc'])
    registry.put(module('db'))
    registry.drop('Module', 'vpc')
    expect(registry.names(view)).toEqual(['vault'])
  })

  it('does not show a resource that replaces a visible one', () => {
    const registry = new Registry().put(namespace('platform', label), module('vpc'))
    const view = registry.model.viewOf(binding('vpc'))
    expect(registry.names(view)).toEqual(['vpc'])
    registry.drop('Module', 'vpc')
    expect(registry.names(view)).toEqual([])
    registry.put(module('db'))
    expect(registry.names(view)).toEqual([])
    registry.put(
      namespace('platform'),
      namespace('platform', label),
      module('db', label),
      module('db'),
    )
    expect(registry.names(view)).toEqual([])
  })

  it('is computed again when the binding changes', () => {
    const registry = new Registry().put(module('vpc'), module('db'))
    const before = registry.model.viewOf(binding('vpc'))
    const after = registry.model.viewOf(binding('db'))
    expect([registry.names(before), registry.names(after)]).toEqual([['vpc'], ['db']])
    expect(before.key).not.toBe(after.key)
  })

  it('sums up what it shows, from the first question on', () => {
    const registry = new Registry().put(namespace('platform', label), module('vpc'))
    const view = registry.model.viewOf(binding('vpc'))
    const modules = () => registry.model.stats(view).totals.modules
    expect(modules()).toBe(1)
    registry.put(module('db', label))
    expect(modules()).toBe(2)
    registry.put(module('db'), module('vpc', label))
    expect(modules()).toBe(1)
    registry.put(module('db', label), namespace('platform'))
    expect(modules()).toBe(1)
  })
})

describe('the graph', () => {
  const revisionAfter = (registry: Registry, ...resources: Resource[]) =>
    registry.put(...resources).model.graphRevision

  it.each([
    ['a resource comes', module('db')],
    ['a resource is synchronised', module('vpc', {}, { synced: true })],
    ['a label appears', module('vpc', label)],
    ['a Depot changes', parse('Depot', 'main', { spec: {} })],
    ['a namespace is published', namespace('platform', label)],
  ])('changes when %s', (_, change) => {
    const labelled = { labels: change.kind === 'Namespace' ? {} : label, namespace: '' }
    const registry = new Registry().put(parse('Namespace', 'platform', {}, labelled), module('vpc'))
    const before = registry.model.graphRevision
    expect(revisionAfter(registry, change)).not.toBe(before)
  })

  it('does not change with downloads', () => {
    const registry = new Registry().put(module('vpc'))
    const { graphRevision, revision } = registry.model
    const counted = {
      kind: 'Module',
      namespace: 'platform',
      name: 'vpc',
      version: '1.0.0',
    } as const
    registry.catalog.setDownloads([{ ...counted, count: 1, lastAt: 1 }])
    expect(registry.model.graphRevision).toBe(graphRevision)
    expect(registry.model.revision).not.toBe(revision)
  })
})

describe('downloads', () => {
  const counted = {
    kind: 'Module',
    namespace: 'platform',
    name: 'vpc',
    version: '1.0.0',
    count: 2,
    lastAt: 5,
  } as const
  const summaryOf = ({ model }: Registry) =>
    model.find(model.views.all, 'Module', 'platform', 'vpc')?.summary

  it('are summed over archives, can be replaced one by one, and include the latest time', () => {
    const registry = new Registry().put(module('vpc'))
    registry.catalog.setDownloads([counted, { ...counted, version: '2.0.0', count: 1, lastAt: 3 }])
    expect(summaryOf(registry)).toMatchObject({ downloads: 3, lastDownloadedAt: 5 })
    registry.catalog.setDownloads([{ ...counted, count: 10, lastAt: 9 }])
    expect(summaryOf(registry)).toMatchObject({ downloads: 11, lastDownloadedAt: 9 })
  })

  it('may exist before and after their resource', () => {
    const registry = new Registry()
    registry.catalog.setDownloads([counted])
    registry.put(module('vpc'))
    registry.drop('Module', 'vpc')
    expect(summaryOf(registry)).toBeUndefined()
    registry.put(module('vpc'))
    expect(summaryOf(registry)).toMatchObject({ downloads: 2 })
  })
})

describe('a burst of changes', () => {
  const burst = Array.from({ length: 2_000 }, (_, index) => module(`m${index}`))

  it('is applied in slices, without a reader', async () => {
    const registry = new Registry().put(...burst)
    expect(registry.model.settled).toBe(false)
    const { totalCount } = registry.model.page(registry.model.views.all, {}, byName)
    expect(totalCount).toBeGreaterThan(0)
    expect(totalCount).toBeLessThan(burst.length)
    await vi.waitFor(() => expect(registry.model.settled).toBe(true))
    expect(registry.model.page(registry.model.views.all, {}, byName).totalCount).toBe(burst.length)
  })

  it('does not delay the newest state of one resource', () => {
    const registry = new Registry().put(module('vpc'))
    const { model } = registry
    expect(registry.names(model.views.all)).toEqual(['vpc'])
    registry.put(...burst, module('vpc', {}, { synced: true }))
    const entry = model.find(model.views.all, 'Module', 'platform', 'vpc')
    expect(entry?.summary.resource.synced).toBe(true)
  })
})
