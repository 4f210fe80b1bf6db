import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { graphOf } from '../../pkg/explorer/web/depots/graph.fixture.ts'
import { chromiumPath, type Look, load, problemsInEveryLook, watch } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* The content of a region when its answer is late, wrong, denied or missing. */

let showcase: Showcase
/** The list gets no answer, which the page says after 30 seconds. The other tests run meanwhile. */
let silent: Awaited<ReturnType<typeof withAnswer>>
let isSilent = true

beforeAll(async () => {
  if (chromiumPath !== undefined) {
    showcase = await startShowcase(undefined, undefined, ['--dev-token-input'])
    silent = await withAnswer((route) => (isSilent ? undefined : route.continue()))
    // Otherwise its placeholders move for half a minute beside the other tests.
    await silent.page.emulateMedia({ reducedMotion: 'reduce' })
  }
})
afterAll(() => showcase?.stop())

type Handler = (route: Route) => Promise<void> | void

/** A page without a first answer in its HTML, which requests its list or graph itself. The handler answers. */
async function withAnswer(handler: Handler, look: Look = {}, path = '/') {
  const watched = await watch(showcase.browser, showcase.explorer.url, look)
  const { page } = watched
  await page.route(
    (url) => url.pathname === new URL(path, 'http://a').pathname,
    async (route) => {
      const response = await route.fetch()
      const html = await response.text()
      await route.fulfill({
        response,
        body: html.replace(/<script type="application\/json" id="prime".*?<\/script>/s, ''),
      })
    },
  )
  await page.route(/\/-\/api\/(?:resources|depots)/, handler)
  await page.goto(path)
  return watched
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (route) =>
    route.fulfill({ status, headers: { 'x-request-id': 'r-123', ...headers }, json: body })

const main = (page: Page) => page.locator('main')

describe.skipIf(chromiumPath === undefined)('a region', () => {
  it.each([
    [
      '403',
      json(403, { errors: ['your groups match no binding'] }),
      [403],
      /You may not see this\.\s+Your groups match no binding\./,
    ],
    ['404', json(404, { errors: ['no'] }), [404], /Not found, or not visible to you\./],
    ['400', json(400, { errors: ['page must be a number'] }), [400], /page must be a number/],
    ['401 without a login', json(401, { errors: ['no'] }), [401], /This registry needs a token\./],
    [
      '429 with a time to wait',
      json(429, { errors: ['no'] }, { 'retry-after': '60' }),
      [429],
      /The registry is busy\. This page tries again by itself\./,
    ],
    [
      '500',
      json(500, { errors: ['the disk is full'] }),
      [500],
      /the disk is full.*Request.*r-123/s,
    ],
    [
      '500 of HTML',
      (route: Route) =>
        route.fulfill({ status: 500, contentType: 'text/html', body: '<h1>Oh</h1>' }),
      [500],
      /The registry answered 500/,
    ],
    [
      'HTML in place of JSON',
      (route: Route) => route.fulfill({ contentType: 'text/html', body: '<h1>Login</h1>' }),
      [],
      /The answer is not JSON/,
    ],
    [
      'JSON that was cut',
      (route: Route) => route.fulfill({ contentType: 'application/json', body: '{"items":[{"na' }),
      [],
      /not JSON, or it was cut off/,
    ],
    ['JSON of another kind', json(200, 'hello'), [], /not what this page expects/],
    [
      'JSON with another structure',
      json(200, { items: [{ kind: 1 }], totalCount: 'many' }),
      [],
      /not what this page expects/,
    ],
    ['an empty object', json(200, {}), [], /not what this page expects/],
    [
      'an errors list of another kind',
      json(500, { errors: [{ a: 1 }] }),
      [500],
      /The registry answered 500/,
    ],
    [
      'no connection',
      (route: Route) => route.abort('connectionrefused'),
      [0],
      /The registry cannot be reached/,
    ],
  ] as const)('says what happened and what to do: %s', async (_name, handler, expected, words) => {
    const { page, problems, close } = await withAnswer(handler, { expected: [...expected] })
    await expect.poll(() => main(page).innerText()).toMatch(words)
    // The rest of the page works.
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Registry')
    expect(await page.getByRole('navigation', { name: 'Depot' }).isVisible()).toBe(true)
    expect(
      await main(page).getByRole('button').or(main(page).getByRole('link')).count(),
    ).toBeGreaterThan(0)
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('sends the request twice more if a gateway fails, never after a 4xx', async () => {
    const answers: number[] = []
    const failing = await withAnswer(
      (route) => {
        answers.push(503)
        return route.fulfill({
          status: answers.length < 3 ? 503 : 200,
          json: answers.length < 3 ? {} : empty,
        })
      },
      { expected: [503] },
    )
    await main(failing.page).getByText('This registry is empty.').waitFor()
    expect(answers).toHaveLength(3)
    await failing.close()
    const refused = await withAnswer(json(400, { errors: ['no'] }), { expected: [400] })
    await main(refused.page).getByRole('link', { name: 'Reset filters' }).waitFor()
    expect(refused.asked.filter((url) => url.startsWith('/-/api/resources'))).toHaveLength(1)
    await refused.close()
  })

  it.each([
    ['502', (route: Route) => route.fulfill({ status: 502, json: { errors: ['unavailable'] } }), 3],
    ['504', (route: Route) => route.fulfill({ status: 504, body: '<h1>Gateway</h1>' }), 3],
    ['a network error', (route: Route) => route.abort('connectionreset'), 3],
    ['500', (route: Route) => route.fulfill({ status: 500, json: { errors: ['no'] } }), 1],
    ['429', (route: Route) => route.fulfill({ status: 429, json: { errors: ['no'] } }), 1],
  ] as const)(
    'after %s repeats the request as often as that helps',
    async (_what, handler, times) => {
      const failing = await withAnswer(handler, { expected: [0, 429, 500, 502, 504] })
      await main(failing.page).getByRole('button', { name: 'Retry' }).waitFor()
      expect(failing.asked.filter((url) => url.startsWith('/-/api/resources'))).toHaveLength(times)
      expect(failing.problems).toEqual([])
      await failing.close()
    },
  )

  it('retries while the registry starts', async () => {
    let isStarting = true
    const { page, problems, close } = await withAnswer(
      (route) => {
        return isStarting
          ? route.fulfill({
              status: 503,
              headers: { 'retry-after': '1' },
              json: { errors: ['loading'] },
            })
          : route.continue()
      },
      { expected: [503] },
    )
    await main(page)
      .getByText('The registry is starting. This page tries again by itself.')
      .waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    isStarting = false
    await main(page).getByRole('row').nth(20).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('shows a skeleton of the final size while nothing is known', async () => {
    const released = Promise.withResolvers<void>()
    const { page, close } = await withAnswer(async (route) => {
      await released.promise
      await route.continue()
    })
    const skeleton = main(page).locator('[aria-busy=true] tbody tr')
    await skeleton.first().waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    const before = await main(page).locator('table').boundingBox()
    released.resolve()
    await main(page)
      .getByRole('link', { name: 'vpc', exact: true })
      .or(main(page).getByRole('link', { name: 'redis' }))
      .first()
      .waitFor()
    const after = await main(page).locator('table').boundingBox()
    expect([after?.x, after?.y, after?.width]).toEqual([before?.x, before?.y, before?.width])
    await close()
  })

  it('keeps old rows while new ones load, and says when they do not arrive', async () => {
    let fails = false
    const { page, close } = await withAnswer(
      (route) =>
        fails ? route.fulfill({ status: 500, json: { errors: ['no'] } }) : route.continue(),
      { expected: [500] },
    )
    // While it loads, the page shows as many placeholder rows.
    await main(page).locator('.region').getByRole('row').nth(20).waitFor()
    fails = true
    await page.getByRole('link', { name: 'Page 2' }).click()
    await main(page)
      .getByText('The list could not be loaded.')
      .or(main(page).getByText('Refreshing failed.'))
      .waitFor()
    expect(await problemsInEveryLook(page)).toEqual([])
    fails = false
    await main(page).getByRole('button', { name: 'Retry' }).click()
    await main(page).getByText('21 to 21 of 21 results').waitFor()
    expect(await main(page).getByText('Refreshing failed.').count()).toBe(0)
    await close()
  })

  it('keeps old rows and buttons in their places while the next page loads, dimmed after 400 ms', async () => {
    const released = Promise.withResolvers<void>()
    const { page, problems, close } = await withAnswer(
      async (route) => {
        if (new URL(route.request().url()).searchParams.has('page')) await released.promise
        await route.continue()
      },
      { height: 1200 },
    )
    await main(page).getByRole('row').nth(20).waitFor()
    const region = main(page).locator('.region')
    const [table, foot] = [region.locator('> .tbl'), region.locator('> .foot')]
    const before = [await table.innerText(), await table.boundingBox(), await foot.boundingBox()]
    await page.getByRole('link', { name: 'Page 2' }).click()
    await main(page).locator('.region.stale').waitFor()
    const opacityAt = (ms: number): Promise<string> =>
      table.evaluate((element, at) => {
        const [dim] = element.getAnimations()
        dim?.pause()
        if (dim !== undefined) dim.currentTime = at
        return getComputedStyle(element).opacity
      }, ms)
    expect(await opacityAt(399)).toBe('1')
    expect(await opacityAt(530)).toBe('0.6')
    // A line above says that a request is running, and the controls stay fully visible.
    expect(await region.evaluate((box) => getComputedStyle(box, '::before').height)).toBe('2px')
    expect(await foot.evaluate((box) => getComputedStyle(box).opacity)).toBe('1')
    expect([await table.innerText(), await table.boundingBox(), await foot.boundingBox()]).toEqual(
      before,
    )
    released.resolve()
    await main(page).getByText('21 to 21 of 21 results').waitFor()
    expect(await table.evaluate((box) => getComputedStyle(box).opacity)).toBe('1')
    expect(problems).toEqual([])
    await close()
  })

  it('accepts a token if the registry requires one, and says if that is also refused', async () => {
    let wanted = 2
    const { page, problems, close } = await withAnswer(
      (route) =>
        wanted > 0 ? route.fulfill({ status: 401, json: { errors: ['no'] } }) : route.continue(),
      { expected: [401] },
    )
    page.on('request', (request) => {
      if (request.url().endsWith('/auth/dev-token')) wanted -= 1
    })
    const card = main(page).getByRole('alert')
    await card.getByText('This registry needs a token.').waitFor()
    await card.getByText('Paste a bearer token to see what it gives access to.').waitFor()
    await card.getByLabel('Bearer token').fill('first.of.two')
    await card.getByRole('button', { name: 'Save' }).click()
    await card
      .getByText('It did not accept the current developer token. Paste another one.')
      .waitFor()
    expect(await card.getByLabel('Bearer token').inputValue()).toBe('')
    expect(await problemsInEveryLook(page)).toEqual([])
    await card.getByLabel('Bearer token').fill('second.of.two')
    await card.getByLabel('Bearer token').press('Enter')
    await main(page).getByRole('row').nth(20).waitFor()
    await main(page).getByText('Developer token in use.').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('offers to clear filters without a match', async () => {
    const { page, problems, close } = await showcase.open('/?q=nothing&kind=module&severity=HIGH')
    await main(page).getByText('Nothing matches these filters.').waitFor()
    expect(await main(page).getByText('3 filters are on.').isVisible()).toBe(true)
    await main(page).getByRole('link', { name: 'Clear' }).click()
    await main(page).getByText('21 modules and providers').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('says that a resource does not exist, if the registry hides nothing', async () => {
    const { page, problems, close } = await showcase.open('/access?resource=data/module/redis')
    const one = page.locator('section[aria-labelledby=one]')
    await one.getByText('This registry shows everything to everyone.').waitFor()
    expect(await one.getByRole('listitem').count()).toBe(0)
    await one.getByRole('link', { name: 'data/module/redis' }).click()
    await page.getByRole('heading', { level: 1, name: 'redis' }).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('says what to do if the registry is empty', async () => {
    const { page, problems, close } = await withAnswer(json(200, empty))
    await main(page).getByText('This registry is empty.').waitFor()
    expect(await main(page).locator('.ways h2').count()).toBe(3)
    expect(await problemsInEveryLook(page)).toEqual([])
    // A registry that is not open may have resources that the caller cannot see.
    const guest = { mode: 'oidc', kind: 'guest', groups: [], access: 'what is public' }
    await page.route('**/-/api/whoami', json(200, guest))
    await page.reload()
    await main(page).getByText('Nothing is visible to you yet.').waitFor()
    expect(await main(page).innerText()).toContain('depot.internal/public=true')
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('offers no block to copy for a module without versions', async () => {
    const { page, problems, close } = await showcase.open('/?q=redis')
    await page.route('**/-/api/resources/data/module/redis?*', async (route) => {
      const response = await route.fetch()
      const { latestVersion, selectedVersion, ...detail } = (await response.json()) as Record<
        string,
        unknown
      >
      expect([latestVersion, selectedVersion]).toEqual(['4.5.0', '4.5.0'])
      await route.fulfill({ response, json: { ...detail, versions: [] } })
    })
    await page.getByRole('link', { name: 'redis', exact: true }).click()
    await page.getByText('There is nothing to install yet: redis has no version.').waitFor()
    expect(await page.getByRole('button', { name: 'Copy usage block' }).count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('does not mention hidden names if the registry hides nothing', async () => {
    const { page, close } = await watch(showcase.browser, showcase.explorer.url, {
      expected: [404],
    })
    await page.goto('/network/module/nothing')
    await page.getByText('This registry shows everything to everyone').waitFor()
    expect(await page.getByRole('link', { name: 'Why can I not see it?' }).count()).toBe(0)
    await close()
  })
})

const empty = { items: [], totalCount: 0, page: 1, pageSize: 20 }

const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `m${from + at}`)
const largeGraph = graphOf({ one: numbered(0, 600), two: numbered(600, 500), three: [] }, [
  'm5',
  'm700',
])

describe.skipIf(chromiumPath === undefined)('a page of depots', () => {
  it('with too many depots for lines is an overview with counts, and lists 100 resources at a time', async () => {
    const { page, problems, close } = await withAnswer(json(200, largeGraph), {}, '/depots')
    const rows = page.locator('.panel .list li')
    await main(page).getByRole('heading', { name: 'All depots' }).waitFor()
    expect(await page.locator('.cells li').allInnerTexts()).toEqual([
      expect.stringMatching(/one\s+not in sync\s+600/),
      expect.stringMatching(/two\s+not in sync\s+500/),
      expect.stringMatching(/three\s+0/),
    ])
    expect(await page.getByRole('button', { name: 'Graph' }).count()).toBe(0)
    await page.locator('.cells').getByText('one').click()
    await page.getByRole('region', { name: 'depot a/one' }).waitFor()
    expect(await page.locator('.panel').innerText()).toMatch(/Manages\s+600 modules/)
    expect(await rows.count()).toBe(100)
    expect(await rows.first().innerText()).toMatch(/a\/m5\s.*not synced/s)
    await page.getByRole('button', { name: 'Show 100 more' }).click()
    expect(await rows.count()).toBe(200)
    // A resource links to the depots that manage it.
    await page.goto('/depots?node=a/module/m700')
    await page.locator('.panel').getByRole('link', { name: 'a/two' }).click()
    await page.getByRole('region', { name: 'depot a/two' }).waitFor()
    // A hit after the first rows is shown.
    await page.goto('/depots?q=a/m')
    await page.getByText('1,100 hits in 2 depots').waitFor()
    await page.getByLabel('Find a depot, module or provider').press('Shift+Enter')
    await page.getByText('1,100 of 1,100, in 2 depots').waitFor()
    await expect.poll(() => page.locator('.panel .list [aria-current]').count()).toBe(1)
    expect(problems).toEqual([])
    await close()
  })

  it('shows depots that fail or wait for a confirmation first, with the reason and a command', async () => {
    const troubled = {
      ...largeGraph,
      depots: largeGraph.depots.map((depot) =>
        depot.name === 'two' ? { ...depot, ready: false, reason: 'PartiallySynced' } : depot,
      ),
      modules: largeGraph.modules.map((module) =>
        module.name === 'm7' ? { ...module, removalHeld: true } : module,
      ),
    }
    const { page, problems, close } = await withAnswer(json(200, troubled), {}, '/depots')
    const health = page.getByRole('region', { name: 'Health' })
    await health.waitFor()
    expect((await health.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      '3 depots 1 healthy 1 failing 1 removal held',
    )
    expect(await page.locator('.depot-rows li').allInnerTexts()).toEqual([
      expect.stringMatching(
        /failing\s.*a\/two\s+Some of its modules and providers failed\s+1 of 500/s,
      ),
      expect.stringMatching(
        /removal held\s.*a\/one\s+Versions stay until .* removal: m7\s+1 of 600/s,
      ),
    ])
    await health.getByRole('link', { name: 'failing' }).click()
    await page.waitForURL('**/depots?health=failing')
    await page.locator('.depot-rows a').click()
    await page.getByRole('region', { name: 'depot a/two' }).waitFor()
    expect(await page.locator('.panel dl').innerText()).toMatch(
      /State\s+Some of its modules and providers failed.*Find out why\s+depot why a\/two/s,
    )
    expect(problems).toEqual([])
    await close()
  })

  it('says how many depots are healthy, and each count is a filter', async () => {
    const { page, problems, close } = await withAnswer(json(200, largeGraph), {}, '/depots')
    const health = page.getByRole('region', { name: 'Health' })
    await health.waitFor()
    expect((await health.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      '3 depots 1 healthy 2 not in sync',
    )
    await health.getByRole('link', { name: 'not in sync' }).click()
    await page.waitForURL('**/depots?health=unsynced')
    expect(await page.locator('.depot-rows li').allInnerTexts()).toEqual([
      expect.stringMatching(/a\/one\s+Not in sync: m5\s+1 of 600/),
      expect.stringMatching(/a\/two\s+Not in sync: m700\s+1 of 500/),
    ])
    expect(await page.locator('.cells li').count()).toBe(0)
    await page.getByLabel('Health', { exact: true }).selectOption('Healthy')
    await expect.poll(() => page.locator('.cells li').count()).toBe(1)
    expect(problems).toEqual([])
    await close()
  })

  it('draws lines as soon as a filter leaves few enough depots', async () => {
    const { page, problems, close } = await withAnswer(
      (route) => {
        const isSmall = new URL(route.request().url()).searchParams.has('namespace')
        return route.fulfill({ json: isSmall ? graphOf({ one: ['x', 'y'] }) : largeGraph })
      },
      {},
      '/depots',
    )
    const overview = main(page).getByRole('heading', { name: 'All depots' })
    await overview.waitFor()
    await page.getByLabel('Namespace').selectOption('data')
    await expect.poll(() => page.locator('.box').count()).toBe(3)
    // A single depot shows the content of its panel.
    expect(await main(page).innerText()).toMatch(/Polls every\s+60 minutes\s+Manages\s+2 modules/)
    await page.getByRole('button', { name: 'List' }).click()
    await overview.waitFor()
    await page.getByRole('button', { name: 'Graph' }).click()
    await page.getByLabel('Namespace').selectOption('All namespaces')
    await overview.waitFor()
    expect(await page.locator('.box').count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it.each(['graph', 'list'])(
    'without depots says so in the %s, and explains depots',
    async (view) => {
      const { page, problems, close } = await withAnswer(
        json(200, graphOf({})),
        {},
        `/depots?view=${view}`,
      )
      await main(page).getByText('No depots are visible to you.').waitFor()
      await main(page)
        .getByText('A depot keeps modules and providers in step with their sources.')
        .waitFor()
      expect(await page.locator('.drawing').count()).toBe(0)
      expect(await problemsInEveryLook(page)).toEqual([])
      await page.getByLabel('Namespace').selectOption('data')
      await main(page).getByRole('link', { name: 'Show all namespaces' }).click()
      await expect.poll(() => new URL(page.url()).searchParams.has('namespace')).toBe(false)
      expect(problems).toEqual([])
      await close()
    },
  )
})

describe.skipIf(chromiumPath === undefined)('going back', () => {
  it('restores filters, rows and scroll without a request', async () => {
    const { page, asked, problems, close } = await showcase.open('/?page_size=50', { height: 500 })
    await page.getByRole('link', { name: 'vpc', exact: true }).scrollIntoViewIfNeeded()
    const top = await page.evaluate(() => scrollY)
    expect(top).toBeGreaterThan(200)
    await page.getByRole('link', { name: 'vpc', exact: true }).click()
    await page.locator('#usage').waitFor()
    expect(await page.title()).toBe('vpc · network · Depot')
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
    await page.waitForLoadState('networkidle')
    const before = asked.length
    await page.goBack()
    await page.getByRole('heading', { name: 'Registry' }).waitFor()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(top)
    expect(asked.slice(before)).toEqual([])
    await page.goForward()
    await page.locator('#usage').waitFor()
    expect(asked.slice(before)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })
})

describe.skipIf(chromiumPath === undefined)('a link to a section', () => {
  it('scrolls there although content above loads later, and the sidebar stays in view', async () => {
    const { page, problems, close } = await showcase.open('/platform/provider/acme-cmdb#findings')
    const top = (selector: string) =>
      page.evaluate(
        (chosen) => document.querySelector(chosen)?.getBoundingClientRect().top,
        selector,
      )
    await page.waitForLoadState('networkidle')
    await expect.poll(() => top('#findings')).toBeLessThan(400)
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(400)
    expect(await top('.side')).toBeGreaterThan(-2)
    expect(problems).toEqual([])
    await close()
  })
})

describe.skipIf(chromiumPath === undefined)('odd URLs', () => {
  it.each([
    ['/?page=0&page_size=7&severity=bad&sort_by=no&view=x', 200],
    ['/?page=99999999999999', 200],
    ['/?page=5000', 200],
    ['/?namespace=a&namespace=b&namespace=a&kind=module&kind=provider', 200],
    [`/?q=${'x'.repeat(3000)}`, 200],
    ['/?q=%00%1f%E2%80%AE%3Cb%3E', 200],
    ['/?q=%ff', 200],
    ['/stats?namespace=%3Cscript%3E', 200],
    ['/depots?node=%22%3E%3Cimg%20src%3Dx%3E&view=graph&q=%5B', 200],
    ['/access?resource=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E', 200],
    ['/a/module/%3Cimg%20src%3Dx%3E', 404],
    ['/a/module/..%2F..%2Fetc', 404],
    ['/-/r/network/module/vpc?version=%3Cb%3E&v_page=-1&f_severity=x', 200],
    ['/network/module/vpc#readme-%ff', 200],
    [`/network/module/vpc?version=${'1'.repeat(400)}`, 200],
    ['/stats/', 200],
    ['/stats//', 404],
  ])('%s shows a page and breaks nothing', async (path, status) => {
    const { page, problems, close } = await watch(showcase.browser, showcase.explorer.url, {
      expected: [400, 404],
    })
    await load(page, path, status)
    await page.locator('main h1').first().waitFor()
    await page.waitForLoadState('networkidle')
    expect((await main(page).innerText()).length).toBeGreaterThan(20)
    expect(await page.locator('main img, main script').count()).toBe(0)
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(over).toBe(0)
    expect(problems).toEqual([])
    await close()
  })
})

describe.skipIf(chromiumPath === undefined)('a registry that does not answer', () => {
  it('is reported after 30 seconds, and asked again on request', async () => {
    const { page, asked, problems, close } = silent
    await main(page)
      .getByText('The registry did not answer within 30 seconds.')
      .waitFor({ timeout: 60_000 })
    expect(asked.filter((url) => url.startsWith('/-/api/resources'))).toHaveLength(1)
    isSilent = false
    await main(page).getByRole('button', { name: 'Retry' }).click()
    await main(page).getByRole('row').nth(20).waitFor()
    expect(problems).toEqual([])
    await close()
  })
})
