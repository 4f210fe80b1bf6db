import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, problemsInEveryLook, settled, watch } from './browser.fixture.ts'
import { showDocumented } from './documented-module.fixture.ts'

/* Pages of submodules and examples, in a real browser. */

const peering = `
variable "peer_vpc_id" {
  type        = string
  description = "VPC that is asked."
}
variable "auto_accept" {
  type    = bool
  default = true
}
output "id" {
  value = 1
}
resource "aws_vpc_peering_connection" "this" {}
`
const readme = '# Peering\n\nPeers two VPCs.\n\n<script>globalThis.ran = 1</script>\n\n## Routes\n'
const root = { 'main.tf': 'variable "cidr" {}\n' }
const latest = {
  ...root,
  'modules/peering/main.tf': peering,
  'modules/peering/README.md': readme,
  'modules/endpoints/main.tf': 'variable {{{\n',
  'examples/complete/main.tf': 'module "vpc" {\n  source = "../.."\n}\n',
}

let shown: Awaited<ReturnType<typeof showDocumented>>
beforeAll(async () => {
  if (chromiumPath === undefined) return
  shown = await showDocumented({
    vpc: [
      ['2.0.0', latest],
      ['1.1.0', { ...root, 'modules/peering/main.tf': 'variable "peer" {}\n' }],
      ['1.0.0', root],
    ],
  })
})
afterAll(() => shown?.close())

const module = '/network/module/vpc'

async function open(path: string) {
  const watched = await watch(shown.browser, shown.url)
  const { page } = watched
  await page.goto(module + path)
  await settled(page)
  return {
    ...watched,
    tabs: page.getByRole('navigation', { name: 'Of this version' }),
    block: page.getByRole('tabpanel').locator('pre').first(),
  }
}

describe.skipIf(chromiumPath === undefined)('submodules and examples of a module', () => {
  it('are listed on tabs of their own, and can be opened with keys alone', async () => {
    const { page, problems, tabs, block, close } = await open('')
    await tabs.getByRole('link', { name: /Examples\s*1/ }).waitFor()
    await tabs.getByRole('link', { name: /Submodules\s*2/ }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${module}?tab=submodules`)
    const table = page.getByRole('table', { name: 'Submodules' })
    expect(await table.getByRole('row', { name: /peering/ }).innerText()).toContain(
      'Peers two VPCs.',
    )
    await table.getByRole('link', { name: 'modules/peering' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${module}/submodules/peering`)
    await page.getByRole('heading', { name: 'modules/peering' }).waitFor()
    expect(await page.title()).toBe('peering · vpc · network · Depot')
    expect(await page.locator('.readme').innerText()).toContain('Routes')
    expect(await page.locator('#input-peer_vpc_id').innerText()).toContain('VPC that is asked.')
    expect(await block.innerText()).toMatch(
      /^module "peering" \{\n {2}source {2}= ".+\/network\/vpc\/aws\/\/modules\/peering"\n/,
    )
    expect(await block.innerText()).toContain('# peer_vpc_id = string')
    expect(await page.evaluate('globalThis.ran')).toBeUndefined()
    await page.getByText('module.peering.id', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy usage block' }).first().click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await block.innerText())
    await page.goBack()
    await table.waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('stay on their page when another version is chosen, which may lack them', async () => {
    const { page, problems, block, close } = await open('/submodules/peering')
    const version = page.getByRole('combobox', { name: 'Version' })
    await version.selectOption('1.1.0')
    await page.waitForURL(`**${module}/submodules/peering?version=1.1.0`)
    await page.locator('#input-peer').waitFor()
    await expect.poll(() => block.innerText()).toContain('version = "1.1.0"')
    await version.selectOption('1.0.0')
    await page.getByText('1.0.0 has no submodule peering.').waitFor()
    await page.getByRole('link', { name: 'All submodules of 1.0.0' }).click()
    await page.waitForURL(`**${module}?version=1.0.0&tab=submodules`)
    await page.getByText('No submodules.').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('have no tab in a version without them', async () => {
    const { tabs, problems, close } = await open('?version=1.0.0')
    await tabs.getByRole('link', { name: /Inputs\s*1/ }).waitFor()
    expect(await tabs.innerText()).not.toMatch(/Submodules|Examples/)
    expect(problems).toEqual([])
    await close()
  })

  it('say which of their files cannot be parsed', async () => {
    const { page, problems, close } = await open('/submodules/endpoints')
    await page.getByText('modules/endpoints/main.tf:1').waitFor()
    await page.getByText('No inputs could be read.').waitFor()
    await page.getByRole('link', { name: 'Submodules', exact: true }).click()
    const listed = page.getByRole('row', { name: /endpoints/ })
    expect(await listed.innerText()).toContain('Incomplete: modules/endpoints/main.tf:1')
    expect(problems).toEqual([])
    await close()
  })

  it.each(['?tab=submodules', '/submodules/peering', '/examples/complete', '/submodules/none'])(
    'are accessible and fit into 320 px in both themes: %s',
    async (path) => {
      const { page, problems, close } = await open(path)
      expect(await problemsInEveryLook(page, [320, 768, 1440])).toEqual([])
      expect(problems).toEqual([])
      await close()
    },
  )
})
