import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, problemsInEveryLook, settled, watch } from './browser.fixture.ts'
import { showDocumented } from './documented-module.fixture.ts'

/* The comparison of two versions, of real module files, in a real browser. */

const oldest = `
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}
variable "az_count" {
  type    = number
  default = 3
}
variable "cidr" {
  type    = string
  default = "10.0.0.0/16"
}
variable "extra_routes" {
  type = any
}
variable "tags" {
  type    = map(number)
  default = {}
}
output "nat_public_ips" {
  value = []
}
resource "aws_subnet" "private" {}
resource "aws_subnet" "removed_without_a_word_in_the_changelog_of_the_module" {}
`
const later = `
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0, < 7.0"
    }
  }
}
variable "cidr" {
  type = string
}
variable "extra_routes" {
  type = list(object({
    cidr   = string
    target = string
  }))
}
variable "tags" {
  type    = map(string)
  default = { note = "<img src=x onerror=\\"globalThis.ran = 1\\">" }
}
variable "ipam" {
  type    = object({ pool_id = string })
  default = null
}
variable "subnets" {
  type = map(object({
    cidr = string
    zone = string
  }))
}
output "nat_public_ips" {
  value     = []
  sensitive = true
}
output "ipv6_cidr" {
  value = ""
}
resource "aws_subnet" "this" {}
moved {
  from = aws_subnet.private
  to   = aws_subnet.this
}
`
const broken = 'variable "cidr" {}\nvariable {{{\n'
const many = Array.from({ length: 300 }, (_, at) => `variable "input_${at}" {}`).join('\n')
const undecided = `${later}
variable "strict" {
  default = 1
}`
const stricter = undecided.replace(
  'default = 1',
  'default = 1\n  validation {\n    condition     = true\n    error_message = "Must be one."\n  }',
)

const compared = {
  from: '1.0.0',
  fromSha256: 'a'.repeat(64),
  verdict: 'breaking',
  reasons: ['input az_count: The input was removed.'],
}
const refused = {
  compared,
  synced: false,
  syncStatus: 'Sync failed: for operators',
  checksum: undefined,
  artifact: undefined,
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      reason: 'BreakingChange',
      message: 'for operators',
      lastTransitionTime: '2026-11-20T10:00:00Z',
    },
  ],
}

let shown: Awaited<ReturnType<typeof showDocumented>>
beforeAll(async () => {
  if (chromiumPath === undefined) return
  shown = await showDocumented({
    vpc: [
      ['2.1.0', stricter],
      ['2.0.1', undecided],
      ['2.0.0', later],
      ['1.4.1', oldest],
      ['1.4.0', oldest],
      ['1.3.0', broken],
      ['1.2.0', undefined],
      ['1.1.0', many],
      ['1.0.0', ''],
    ],
    single: [['1.0.0', oldest]],
    marked: [
      ['1.2.0', later, refused],
      ['1.1.0', later, { compared }],
      ['1.0.0', oldest],
    ],
  })
})
afterAll(() => shown?.close())

const marked = '/network/module/marked?tab=versions'
const compare = (range: string): string => `/network/module/vpc/compare/${range}`
const every = '1.4.0...2.0.0'

async function open(path: string, expected: readonly number[] = [], width = 1280) {
  const watched = await watch(shown.browser, shown.url, { expected, width })
  await watched.page.goto(path)
  await settled(watched.page)
  return watched
}

describe.skipIf(chromiumPath === undefined)('the comparison of two versions', () => {
  it('groups the changes, and says first whether callers can take the version', async () => {
    const { page, problems, close } = await open(compare(every))
    const verdict = page.locator('.verdict')
    expect(await verdict.innerText()).toBe(
      '6 changes break callers of 1.4.0\n\n2.0.0 is a new major version, so callers expect breaking changes.',
    )
    const { bottom } = await verdict.evaluate((box) => box.getBoundingClientRect())
    expect(bottom).toBeLessThan(300)
    expect(await page.locator('.jump').getByRole('link').allInnerTexts()).toEqual([
      '6\nBreaking',
      '1\nNot decided',
      '2\nNew',
      '2\nChanged',
      '2\nInternal',
    ])
    const rows = (group: string) =>
      page.getByRole('table', { name: group }).locator('tbody tr').allInnerTexts()
    const breaking = (await rows('Breaking')).join('\n')
    for (const text of [
      'az_count',
      'subnets',
      'not there',
      'gone',
      'no default',
      'zone = string',
    ]) {
      expect(breaking).toContain(text)
    }
    expect((await rows('New')).join('\n')).toMatch(/ipam[^]*ipv6_cidr/)
    expect((await rows('Changed')).join('\n')).toContain('<img src=x')
    await page.locator('.fold summary').click()
    expect((await rows('Internal')).join('\n')).toContain('A moved or removed block covers it.')
    expect(await page.evaluate('globalThis.ran')).toBeUndefined()
    expect(problems).toEqual([])
    await close()
  })

  it('compares the latest version with the previous one, and other versions by a choice', async () => {
    const { page, problems, close } = await open('/network/module/vpc/compare')
    expect(await page.locator('.verdict').innerText()).toBe(
      '1 change could not be decided\n\nNothing else breaks callers.',
    )
    const from = page.getByRole('combobox', { name: 'From version' })
    expect(await from.inputValue()).toBe('2.0.1')
    await from.focus()
    await from.selectOption('2.0.0')
    await page.waitForURL(`**${compare('2.0.0...2.1.0')}`)
    expect(await from.evaluate((select) => select === document.activeElement)).toBe(true)
    await page.getByRole('combobox', { name: 'To version' }).selectOption('1.4.1')
    await page.waitForURL(`**${compare('2.0.0...1.4.1')}`)
    await page.getByRole('heading', { name: /breaks? callers of 2\.0\.0/ }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Nothing breaks callers of 2.0.0' }).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('is a link of each version except the first, and of an older version that is shown', async () => {
    const { page, problems, close } = await open('/network/module/vpc?version=1.4.1&tab=versions')
    const links = page
      .getByRole('table', { name: 'Versions' })
      .getByRole('link', { name: /^Compare/ })
    expect(await links.count()).toBe(8)
    await page.locator('.note.older').getByRole('link', { name: 'Compare' }).click()
    await page.waitForURL(`**${compare('1.4.1...')}`)
    expect(await page.getByRole('combobox', { name: 'To version' }).inputValue()).toBe('2.1.0')
    await page.goBack()
    await page.getByRole('link', { name: 'Compare 1.4.1 with 1.4.0' }).click()
    await page.waitForURL(`**${compare('1.4.0...1.4.1')}`)
    await page.getByRole('heading', { name: 'Nothing changed for callers of 1.4.0' }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
    expect(problems).toEqual([])
    await close()
  })

  it.each([
    [
      '1.3.0...2.0.0',
      /A file cannot be parsed, so[^]*File\s+main\.tf:2[^]*earlier version cannot be parsed: /,
    ],
    ['1.2.0...2.0.0', /Version 1\.2\.0 of module network\/vpc has no documentation yet: the contr/],
    ['9.9.9...2.0.0', /There is no version 9\.9\.9\./],
    ['2.0.0...2.0.0', /Both versions are 2\.0\.0, so nothing changed\./],
    ['1.4.0...1.4.1', /Nothing changed for callers of 1\.4\.0/],
  ])('explains the result of %s', async (range, text) => {
    const { page, problems, close } = await open(compare(range), [404])
    expect(await page.locator('main').innerText()).toMatch(text)
    expect(problems).toEqual([])
    await close()
  })

  it('explains that a module with one version has nothing to compare', async () => {
    const { page, problems, asked, close } = await open('/network/module/single/compare')
    expect(await page.locator('.void').innerText()).toMatch(/1\.0\.0 is its only version\./)
    expect(asked.filter((url) => url.includes('/compare'))).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('shows skeletons while the answer is loading', async () => {
    const watched = await watch(shown.browser, shown.url)
    const { page, problems, close } = watched
    const answer = Promise.withResolvers<void>()
    await page.route('**/compare?*', async (route) => {
      await answer.promise
      await route.continue()
    })
    await page.goto(compare(every))
    await page.locator('[aria-busy=true] .sk').first().waitFor()
    answer.resolve()
    await page.locator('.verdict').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('renders 300 changes', async () => {
    const { page, problems, close } = await open(compare('1.0.0...1.1.0'))
    expect(await page.locator('.verdict h2').innerText()).toContain('300 changes break callers')
    expect(await page.locator('.diff tbody tr').count()).toBe(300)
    expect(problems).toEqual([])
    await close()
  })

  it.each([every, '1.4.0...1.4.1', '1.3.0...2.0.0', '1.2.0...2.0.0', '9.9.9...2.0.0'])(
    'is accessible and fits into the window in both themes: %s',
    async (range) => {
      const { page, problems, close } = await open(compare(range), [404])
      const fold = page.locator('.fold summary')
      if ((await fold.count()) > 0) await fold.click()
      expect(await problemsInEveryLook(page, [320, 768, 1440])).toEqual([])
      expect(problems).toEqual([])
      await close()
    },
  )

  it('copies the comparison as Markdown', async () => {
    const { page, problems, close } = await open(compare(every))
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toMatch(/^### network\/vpc 1\.4\.0 to 2\.0\.0: breaking\n\n\*\*Breaking\*\*\n/)
    expect(copied).toContain('| input subnets | Callers must set the new input. |')
    await page.getByRole('combobox', { name: 'To version' }).selectOption('1.4.0')
    await page.getByText('Both versions are 1.4.0').waitFor()
    expect(await page.getByRole('button', { name: 'Copy as Markdown' }).count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('is linked from the mark of a version that breaks callers, in the table of versions', async () => {
    const { page, problems, close } = await open(marked)
    const row = (version: string) =>
      page.getByRole('table', { name: 'Versions' }).getByRole('row').filter({ hasText: version })
    expect(await row('1.2.0').first().getByText('Breaking').count()).toBe(1)
    expect(await page.locator('.why').innerText()).toContain(
      'It breaks callers of 1.0.0: input az_count: The input was removed. To store it, set',
    )
    expect(await row('1.0.0').last().getByText('Breaking').count()).toBe(0)
    await page.getByRole('link', { name: 'Breaking changes since 1.0.0' }).click()
    await page.waitForURL('**/network/module/marked/compare/1.0.0...1.1.0')
    await page.locator('.verdict.fail').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('shows both versions in full in the narrowest window', async () => {
    const { page, problems, close } = await open('/network/module/vpc/compare', [], 320)
    for (const name of ['From version', 'To version']) {
      const box = await page.getByRole('combobox', { name }).boundingBox()
      expect(box?.width).toBeGreaterThan(100)
    }
    expect(problems).toEqual([])
    await close()
  })

  it('has marks that are accessible and fit into 320 px in both themes', async () => {
    const { page, problems, close } = await open(marked)
    expect(await problemsInEveryLook(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })
})
