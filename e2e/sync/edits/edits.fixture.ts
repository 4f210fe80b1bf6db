import { platforms, urls, type World } from './world.fixture.ts'

/** The result of an edit. */
export interface Made {
  /** For people who read a failure. */
  readonly what: string
  /** Undoes the edit, like a person who notices a mistake. */
  readonly undo?: () => Promise<void>
  /** Objects whose removal a person ordered: those of a parent, such as `Module vpc`, or one version of it. */
  readonly ordered?: readonly string[]
}

export type Edit = (world: World) => Promise<Made | undefined>

const versionOf = ({ random }: World) => `1.${random.below(8)}.0`
const constraints = ['', '>= 1.2', '~> 1.0', '!= 1.3.0', '< 1.6', '~> 10.0', '~> five', '= 9.9.9']

/** Changes fields of an object, writes them, and undoes that. */
async function change<T extends object>(
  of: T,
  fields: Partial<T>,
  write: () => Promise<void>,
): Promise<() => Promise<void>> {
  const before = Object.fromEntries(Object.keys(fields).map((name) => [name, of[name as keyof T]]))
  Object.assign(of, fields)
  await write()
  return async () => {
    Object.assign(of, before)
    await write()
  }
}

const upstreamEdits: readonly Edit[] = [
  async (world) => {
    const [url, version] = [world.random.pick(urls), `1.${world.random.below(30)}.0`]
    if (world.tagsOf(url).has(version)) return undefined
    world.tag(url, version)
    world.publish()
    return { what: `${url} has ${version}` }
  },
  async (world) => {
    const [url, version] = [world.random.pick(urls), versionOf(world)]
    const text = world.tagsOf(url).get(version)
    if (text === undefined) return undefined
    world.tagsOf(url).delete(version)
    world.publish()
    const undo = async () => {
      world.tagsOf(url).set(version, text)
      world.publish()
    }
    return { what: `${url} loses ${version}`, undo }
  },
  async (world) => {
    const [url, version] = [world.random.pick(urls), versionOf(world)]
    const text = world.tagsOf(url).get(version)
    if (text === undefined) return undefined
    world.tag(url, version)
    world.publish()
    const undo = async () => {
      world.tagsOf(url).set(version, text)
      world.publish()
    }
    return { what: `${url} moves ${version}`, undo }
  },
  async (world) => {
    const url = world.random.pick(urls)
    const before = [...world.tagsOf(url)]
    const kept = before.slice(0, world.random.below(3))
    world.tags.set(url, new Map(kept))
    world.publish()
    const undo = async () => {
      world.tags.set(url, new Map([...world.tagsOf(url), ...before]))
      world.publish()
    }
    return { what: `the list of ${url} is cut to ${kept.length}`, undo }
  },
  async (world) => {
    const host = world.random.pick([...urls, 'acme/cloud'])
    world.breakHost(host)
    return { what: `${host} is unreachable`, undo: async () => world.mendHost(host) }
  },
  async (world) => {
    for (const host of [...urls, 'acme/cloud']) world.breakHost(host)
    const undo = async () => {
      for (const host of [...urls, 'acme/cloud']) world.mendHost(host)
    }
    return { what: 'no host is reachable', undo }
  },
  async (world) => {
    const version = `1.${world.random.below(10)}.0`
    if (world.releases.has(version)) return undefined
    world.releases.set(version, platforms.slice(0, 1 + world.random.below(3)))
    world.publish()
    return { what: `the provider has ${version}` }
  },
  async (world) => {
    const [version, before] = world.random.pick([...world.releases])
    if (world.releases.size === 1) return undefined
    const isWhole = world.random.chance(0.5)
    if (isWhole) world.releases.delete(version)
    else world.releases.set(version, before.slice(1))
    world.publish()
    const undo = async () => {
      world.releases.set(version, before)
      world.publish()
    }
    return { what: `the provider loses ${isWhole ? version : `a platform of ${version}`}`, undo }
  },
]

const depotEdits: readonly Edit[] = [
  async (world) => {
    const module = world.random.pick(world.modules)
    const constraint = world.random.pick(constraints)
    const undo = await change(module, { constraint }, () => world.writeDepot())
    return { what: `${module.name} has the constraint "${constraint}"`, undo }
  },
  async (world) => {
    const constraint = world.random.pick(constraints)
    const undo = await change(world.provider, { constraint }, () => world.writeDepot())
    return { what: `the provider has the constraint "${constraint}"`, undo }
  },
  async (world) => {
    const module = world.random.pick(world.modules)
    const [of, name] = world.random.chance(0.6)
      ? [module, module.name]
      : [world.provider, 'the provider']
    const limit = world.random.pick([undefined, 1, 3, 5, 20])
    const undo = await change<{ limit: number | undefined }>(of, { limit }, () =>
      world.writeDepot(),
    )
    return { what: `${name} keeps ${limit}`, undo }
  },
  async (world) => {
    const module = world.random.pick(world.modules)
    const url = world.random.pick([...urls, `${module.url}.git`, 'https://git.test/acme/empty'])
    const undo = await change(module, { url }, () => world.writeDepot())
    return { what: `${module.name} moves to ${url}`, undo }
  },
  async (world) => {
    const module = world.random.pick(world.modules)
    const isListed = !module.isListed
    const undo = await change(module, { isListed }, () => world.writeDepot())
    const ordered = world.deletionPolicy === 'Delete' ? [`Module ${module.name}`] : []
    return { what: `${module.name} is ${isListed ? '' : 'not '}in the Depot`, undo, ordered }
  },
  async (world) => {
    const module = world.random.pick(world.modules)
    const immutable = world.random.pick([true, false, undefined])
    const undo = await change(module, { immutable }, () => world.writeDepot())
    return { what: `${module.name} has immutable: ${immutable}`, undo }
  },
  async (world) => {
    const storage = world.random.pick(['one', 'two', 'three/four', './one/'])
    const undo = await change<{ storage: string }>(world, { storage }, () => world.writeDepot())
    return { what: `the Depot stores in ${storage}`, undo }
  },
  async (world) => {
    const isSuspended = !world.isSuspended
    const undo = await change<{ isSuspended: boolean }>(world, { isSuspended }, () =>
      world.writeDepot(),
    )
    return { what: `the Depot is ${isSuspended ? '' : 'not '}suspended`, undo }
  },
  async (world) => {
    if (!world.isDepotThere) return undefined
    world.isDepotThere = false
    await world.scene.remove('Depot', 'main')
    const undo = () => world.writeDepot()
    return {
      what: 'the Depot is deleted',
      undo,
      ordered: world.deletionPolicy === 'Delete' ? world.managed : [],
    }
  },
  async (world) => {
    const deletionPolicy = world.random.pick([undefined, undefined, 'Orphan', 'Delete'])
    const fields = { deletionPolicy }
    const undo = await change<{ deletionPolicy: string | undefined }>(world, fields, () =>
      world.writeDepot(),
    )
    return { what: `the Depot has deletionPolicy: ${deletionPolicy}`, undo }
  },
]

const moduleEdits: readonly Edit[] = [
  async (world) => {
    const all = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0', '1.6.0', '1.7.0']
    const versions = all.filter(() => world.random.chance(0.6))
    const undo = await change(world.lone, { versions }, () => world.writeLone())
    return { what: `lone names ${versions.join(', ')}`, undo }
  },
  async (world) => {
    const storage = world.random.pick(['one', 'two', 'five'])
    const undo = await change(world.lone, { storage }, () => world.writeLone())
    return { what: `lone stores in ${storage}`, undo }
  },
  async (world) => {
    const limit = world.random.pick([undefined, 1, 2, 6])
    const undo = await change(world.lone, { limit }, () => world.writeLone())
    return { what: `lone keeps ${limit}`, undo }
  },
  async (world) => {
    const names = world.scene.names('Version')
    if (names.length === 0) return undefined
    const name = world.random.pick(names)
    const { spec } = world.scene.object('Version', name)
    const retain = world.random.chance(0.7)
    await world.scene.objects.patch(
      { kind: 'Version', namespace: world.scene.namespace, name },
      { spec: { ...(spec as object), retain } },
    )
    return { what: `${name} has retain: ${retain}` }
  },
]

const operatorEdits: readonly Edit[] = [
  async (world) => {
    const hours = world.random.pick([1, 12, 25, 25, 80])
    world.later(hours)
    return { what: `${hours} hours pass` }
  },
  async (world) => {
    const held = (['Module', 'Provider'] as const).flatMap((kind) =>
      world.scene.names(kind).flatMap((name) => {
        const message = world.scene.condition(kind, name, 'RemovalHeld')?.message ?? ''
        const token = /confirm-removal[=:]\s*"?(\w+)/.exec(message)?.[1]
        return token === undefined ? [] : [{ kind, name, token }]
      }),
    )
    if (held.length === 0) return undefined
    const { kind, name, token } = world.random.pick(held)
    await world.annotate(kind, name, { 'depot.internal/confirm-removal': token })
    return { what: `the removal of versions of ${name} is confirmed`, ordered: [`${kind} ${name}`] }
  },
  async (world) => {
    if (!world.scene.names('Depot').includes('main')) return undefined
    const message = world.scene.condition('Depot', 'main', 'UpstreamSuspicious')?.message ?? ''
    const token = /accept-listing[=:]\s*"?(\w+)/.exec(message)?.[1]
    if (token === undefined) return undefined
    world.annotations['depot.internal/accept-listing'] = token
    await world.writeDepot()
    return { what: 'a suspicious list is accepted' }
  },
  async (world) => {
    for (const [kind, name] of [
      ['Depot', 'main'],
      ['Module', 'lone'],
    ] as const) {
      await world.annotate(kind, name, {
        'depot.internal/sync-requested-at': String(world.random.next()),
      })
    }
    return { what: 'a sync is requested' }
  },
]

/** Edits for registries of any kind. */
export const commonEdits: readonly Edit[] = [
  ...upstreamEdits,
  ...depotEdits,
  ...moduleEdits,
  ...operatorEdits,
]
