import { setTimeout as sleep } from 'node:timers/promises'
import { openArchiveStore } from '../../../pkg/archives/storage/storage.ts'
import type { Scene } from '../../../pkg/fill/sync/scene.fixture.ts'
import type { Catalog } from '../../../pkg/registry/catalog/catalog.ts'
import { commonEdits, type Edit, type Made } from './edits.fixture.ts'
import { Random } from './random.fixture.ts'
import { type Installable, installableIn } from './served.fixture.ts'
import { World } from './world.fixture.ts'

/** How many edits in a row, and the seed of the random numbers: `DEPOT_EDITS=500 DEPOT_EDITS_SEED=1`. */
export const edits = {
  count: (usual: number) => Number(process.env['DEPOT_EDITS'] ?? usual),
  seed: () => Number(process.env['DEPOT_EDITS_SEED'] ?? Date.now() % 1_000_000),
}

/** A registry under test: its reconcilers, and the catalog of a server that reads the same records. */
export interface EditedRegistry {
  readonly scene: Scene
  readonly catalog: Catalog
  /** Resolves when the catalog has everything that was written until now. */
  caughtUp(): Promise<void>
  /** Waits until nothing is undecided, like one run of `depot sync`. */
  settled(): Promise<void>
  /** Edits that only this kind of registry has. */
  readonly more: readonly Edit[]
}

/**
 * Makes random edits in a row. After each, everything that was installable before is still installable, unless a person
 * ordered or confirmed its removal, or it is one of the few versions that specs exclude.
 *
 * @throws Error with the seed and all edits if that is not so
 */
export async function surviveEdits(registry: EditedRegistry, count: number, seed: number) {
  const { scene, catalog, more } = registry
  const random = new Random(seed)
  const world = new World(scene, random)
  const archives = openArchiveStore({ filesystemMountPath: scene.storage })
  const history: string[] = []
  const undos: {
    readonly what: string
    readonly undo: () => Promise<void>
    readonly made: Made
  }[] = []
  const seen = { allowed: 0, most: 0, compared: 0 }
  const fail = (problem: string): never => {
    const all = history.map((what, index) => `  ${index + 1}. ${what}`).join('\n')
    throw new Error(`${problem}\nafter these edits (DEPOT_EDITS_SEED=${seed}):\n${all}`)
  }
  const served = () => installableIn(catalog, scene.namespace, archives)
  const run = async () => {
    await scene.run({
      pollAtStart: random.chance(0.3),
      verifyAtStart: random.pick([undefined, 'look']),
    })
    await registry.settled()
    await registry.caughtUp()
  }
  const next = async (): Promise<Made> => {
    if (undos.length > 0 && random.chance(0.3)) {
      const [{ what, undo, made } = fail('nothing to undo')] = undos.splice(
        random.below(undos.length),
        1,
      )
      await undo()
      const ofDepot = world.deletionPolicy === 'Delete' ? world.managed : []
      return { what: `undone: ${what}`, ordered: [...(made.ordered ?? []), ...ofDepot] }
    }
    for (;;) {
      const made = await random.pick([...commonEdits, ...more])(world)
      if (made === undefined) continue
      if (made.undo !== undefined) undos.push({ what: made.what, undo: made.undo, made })
      return made
    }
  }

  await world.writeAll()
  await run()
  let before = (await served()).installable
  if (before.size < 30) fail(`only ${before.size} archives can be installed at the beginning`)
  for (let step = 0; step < count; step += 1) {
    const made = await next()
    history.push(made.what)
    if (random.chance(0.3)) await sleep(random.below(300))
    const { broken } = await within(served, (state) => state.broken.length === 0)
    if (broken.length > 0) fail(`a server offers what it cannot hand out: ${broken.join('; ')}`)
    scene.aheadMs += 10 * 60_000
    await run()
    const state = await within(
      async () => {
        const { installable: after, problems } = await served()
        const missing = [...before.values()].filter(({ key }) => !after.has(key))
        const change = { world, made, before, after, missing }
        const wrong = missing.filter((one) => !isAllowed(one, change))
        return { after, problems, missing, wrong }
      },
      ({ wrong }) => wrong.length === 0,
    )
    const { after, problems, missing, wrong } = state
    if (wrong.length > 0) {
      const keys = wrong.map(({ key }) => key).join(', ')
      fail(
        `cannot be installed any more: ${keys}\n${problems.join('\n')}\n${reportOf(scene, wrong)}`,
      )
    }
    seen.allowed += missing.length
    seen.compared += before.size
    before = after
    seen.most = Math.max(seen.most, after.size)
  }
  return { ...seen, history }
}

/** Looks again for a while, because reconcilers may be writing, and a server reads a file once it has settled. */
async function within<T>(look: () => Promise<T>, isFine: (seen: T) => boolean): Promise<T> {
  for (let looks = 0; ; looks += 1) {
    const seen = await look()
    if (isFine(seen) || looks === 20) return seen
    await sleep(250)
  }
}

function isAllowed(
  one: Installable,
  {
    world,
    made,
    before,
    after,
    missing,
  }: {
    readonly world: World
    readonly made: Made
    readonly before: ReadonlyMap<string, Installable>
    readonly after: ReadonlyMap<string, Installable>
    readonly missing: readonly Installable[]
  },
): boolean {
  const ordered = made.ordered ?? []
  if (ordered.includes(one.parent) || ordered.includes(`versions ${versionName(one)}`)) return true
  const [kind = '', name = ''] = one.parent.split(' ')
  if (ordered.includes(`${kind.toLowerCase()}s ${name}`)) return true
  const ofParent = (all: Iterable<Installable>) =>
    [...all].filter(({ parent }) => parent === one.parent).length
  const stored = new Map([...before, ...after])
  const isHeld = isMany(ofParent(missing), ofParent(stored.values()))
  return !isHeld && world.excludes(one, before.values())
}

/** The records of lost versions. */
function reportOf(scene: Scene, lost: readonly Installable[]): string {
  const names = new Set(lost.map(versionName))
  const parents = new Set(lost.map(({ parent }) => parent))
  const objects = (['Depot', 'Module', 'Provider', 'Version'] as const).flatMap((kind) =>
    scene.objects
      .list(kind, { namespace: scene.namespace })
      .filter(({ metadata: { name } }) =>
        kind === 'Version' ? names.has(name) : kind === 'Depot' || parents.has(`${kind} ${name}`),
      ),
  )
  return objects.map((object) => JSON.stringify(object)).join('\n')
}

/** The rule of docs/sync.md: this many versions are only removed with a confirmation. */
const isMany = (leaving: number, stored: number): boolean =>
  leaving === stored || (leaving > 5 && leaving > stored / 4)

const versionName = ({ parent, version, platform }: Installable) =>
  [parent.split(' ')[1], version.replaceAll('.', '-'), platform.replace('/', '-')]
    .filter((part) => part !== '')
    .join('-')
