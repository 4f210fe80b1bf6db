import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, problemsInEveryLook } from './browser.fixture.ts'
import { type Showcase, startShowcase } from './showcase-explorer.fixture.ts'

/* Publishers of versions: a line on the page of a version. */

const common = {
  namespace: 'network',
  kind: 'module',
  provider: 'aws',
  versions: ['1.0.0'],
} as const
const at = '2026-11-26T10:00:00Z'
const hostile = '<img src=x onerror=alert(1)>'
const runUrl = 'https://ci.test/acme/vpc/actions/runs/42'

let showcase: Showcase
beforeAll(async () => {
  if (chromiumPath === undefined) return
  const job = { by: 'repo:acme/vpc', repository: 'acme/vpc', ref: 'refs/tags/v1.0.0', runUrl, at }
  const long = 'x'.repeat(200)
  const forged = { ...job, repository: hostile, ref: hostile + long, runUrl: 'javascript:alert(1)' }
  showcase = await startShowcase(
    [
      { ...common, name: 'vpc', published: job },
      { ...common, name: 'forged', published: forged },
      { ...common, name: 'person', published: { by: 'ada@example.com', at } },
    ],
    [],
  )
})
afterAll(() => showcase?.stop())

describe.skipIf(chromiumPath === undefined)('the page of a version', () => {
  const lineOf = async (name: string) => {
    const opened = await showcase.open(`/network/module/${name}`)
    const line = opened.page.locator('.meta > span', { hasText: 'Published' })
    await line.waitFor()
    return { ...opened, line }
  }

  it('says which job published it, and links to the run', async () => {
    const { page, line, problems, close } = await lineOf('vpc')
    expect(await line.innerText()).toMatch(/^Published by acme\/vpc at v1\.0\.0, .*\sRun 42$/s)
    expect(await line.getByRole('link', { name: 'Run 42' }).getAttribute('href')).toBe(runUrl)
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('shows markup as text, and links to https alone', async () => {
    const { page, line, problems, close } = await lineOf('forged')
    expect(await line.innerText()).toContain(`by ${hostile} at ${hostile}xxx`)
    expect(await line.getByRole('link').count()).toBe(0)
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('names no person', async () => {
    const { page, line, close } = await lineOf('person')
    expect(await line.innerText()).toMatch(/^Published, /)
    expect(await page.content()).not.toContain('ada@example.com')
    await close()
  })
})
