import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Sample } from '../../hack/testbed/explorer/manifests.ts'
import { readme } from '../../hack/testbed/explorer/showcase.ts'
import { chromiumPath, settled, untilDrawn, watch, withReadme } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Nothing moves while pages load, with the longest names that a cluster allows and with a README. */

const namespace = `observability-${'n'.repeat(49)}`
const sample = (name: string, rest: Partial<Sample> = {}): Sample => ({
  namespace,
  name,
  kind: 'module',
  provider: 'aws',
  versions: ['2.0.0', '1.0.0'],
  findings: [1, 2, 3, 4, 5],
  twice: ['1.0.0'],
  ...rest,
})

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath === undefined) return
  const long = 'x'.repeat(63)
  showcase = await startShowcase(
    [sample('vpc'), sample(long), sample('cmdb', { kind: 'provider', platforms: ['linux/amd64'] })],
    [{ namespace, name: long, storage: 's3', minutes: 60, modules: ['vpc', long], providers: [] }],
  )
})
afterAll(() => showcase?.stop())

const module = `/${namespace}/module/vpc`

describe.skipIf(chromiumPath === undefined).each([1280, 320])('at %i px', (width) => {
  it.each([
    '/',
    `/?namespace=${namespace}&view=cards`,
    module,
    `${module}?tab=versions`,
    `${module}?tab=findings`,
    `${module}?version=1.0.0`,
    `/${namespace}/provider/cmdb`,
    '/depots',
    '/stats',
    '/conflicts',
    '/publish',
    '/access',
  ])('nothing moves while %s loads', async (path) => {
    const look = { width }
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url, look)
    onTestFinished(close)
    await withReadme(page, module, readme.repeat(10))
    await page.addInitScript(() => {
      Object.assign(globalThis, { shift: 0 })
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          Object.assign(globalThis, {
            shift: Number(Reflect.get(globalThis, 'shift')) + Number(Reflect.get(entry, 'value')),
          })
      }).observe({ type: 'layout-shift', buffered: true })
    })
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await page.goto(path)
    await untilDrawn(page)
    // A throttled page burns processor time while it does nothing, too.
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    await settled(page)
    expect(await page.evaluate<number>('globalThis.shift')).toBeLessThan(0.02)
    expect(problems).toEqual([])
  })
})
