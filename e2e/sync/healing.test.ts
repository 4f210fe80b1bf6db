import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  faults,
  innerFaults,
  type Route,
  type RouteFault,
  recordsRoute,
  routes,
  storageRoute,
} from './healing-faults.fixture.ts'
import { HealingUpstreams } from './healing-upstreams.fixture.ts'
import { World } from './healing-world.fixture.ts'

/*
 * From every state that a fault can leave, everything becomes ready by itself within six hours after the fault has ended, and
 * at once on request; a single run needs one more run. Stored versions are served all the time.
 */

const minute = 60_000
const hour = 60 * minute

let upstreams: HealingUpstreams
beforeAll(async () => {
  upstreams = await HealingUpstreams.start()
})
afterAll(() => upstreams?.[Symbol.asyncDispose]())

const cures = ['waiting', 'asking', 'running again'] as const
type Cure = (typeof cures)[number]
const versions = ['1.0.0', '1.1.0', '1.2.0'] as const

/** Causes a fault before a new version is stored, ends it, and cures what it left. */
async function episode(
  world: World,
  cure: Cure,
  { begin, isSlow, deadlineMs, lastsMs = 0 }: Happening,
) {
  const end = begin()
  const before = world.hits
  const isHitAgain = () => world.hits > before + 1
  if (cure === 'running again') await world.begin({ pollAtStart: true, deadlineMs })
  else if (world.isRunning) await world.advance(70 * minute, isHitAgain)
  else {
    await world.begin({ deadlineMs })
    if (isSlow !== true) await world.advance(2 * minute, isHitAgain)
  }
  const during = { problems: world.problems(), stored: world.stored() }
  end()
  if (cure === 'running again') {
    await world.advance(lastsMs + 2000)
    await world.begin({ pollAtStart: true })
  } else if (cure === 'asking') {
    await world.advance(lastsMs)
    await world.ask()
    // On a busy machine, a short deadline may end a good answer.
    const isLate = (problem: string) => isSlow === true || problem.includes('took too long')
    for (let tries = 0; tries < 9 && world.problems().some(isLate); tries += 1) await world.ask()
  } else await world.advance(6 * hour, () => world.problems().length === 0)
  return { during, problems: world.problems() }
}

interface Happening extends Pick<RouteFault, 'isSlow' | 'lastsMs'> {
  readonly begin: () => () => void
  readonly deadlineMs: number
}

/** @returns what is wrong: each cure has its own version */
async function wrongAfter(route: Route, fault: RouteFault, first: number): Promise<string[]> {
  await using world = await World.open(upstreams, route.source)
  const wrong: string[] = []
  const [shortMs, usualMs] = route.source === 'git' ? [2000, 10_000] : [1000, minute]
  const deadlineMs = fault.isSlow === true ? shortMs : usualMs
  for (const [index, version] of versions.entries()) {
    const cure = cures[(first + index) % 3] ?? 'waiting'
    const what = `${route.name}, ${fault.name}, ${version} after ${cure}`
    if (index > 0) await world.publish(version)
    const begin = () => fault.begin(world, route, upstreams)
    const { during, problems } = await episode(world, cure, { ...fault, begin, deadlineMs })
    if (index === 0 && during.problems.length === 0) wrong.push(`${what}: no effect`)
    const lost = versions.slice(0, index).filter((one) => !during.stored.includes(one))
    wrong.push(...lost.map((one) => `${what}: ${one} was not served meanwhile`))
    wrong.push(...problems.map((problem) => `${what}: ${problem}`))
    // Programs of git take most of the time, so its routes have one version.
    if (wrong.length > 0 || fault.isSlow === true || route.source === 'git') break
  }
  return wrong
}

/** `DEPOT_E2E_HEALING=all` runs every fault on every route, which takes minutes. Otherwise, each route has a third of them. */
const share = process.env['DEPOT_E2E_HEALING'] === 'all' ? 1 : 3

it.each([...routes, storageRoute, recordsRoute])('after faults of $name', async (route) => {
  const offset = routes.indexOf(route) + 1
  const wrong: string[] = []
  const fitting = [...faults, ...innerFaults].filter(({ fits }) => fits(route))
  for (const [index, fault] of fitting.entries()) {
    if ((index + offset) % share === 0) wrong.push(...(await wrongAfter(route, fault, index)))
  }
  expect(wrong).toEqual([])
})
