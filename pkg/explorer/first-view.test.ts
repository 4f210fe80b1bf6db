import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { writeBarePages } from '../../hack/testbed/explorer/pages.ts'
import { startExplorer } from './explorer.fixture.ts'

/** Pages with a skeleton, and components with the given code. */
function pagesWith(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'depot-first-view-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dist = writeBarePages(folder)
  writeFileSync(
    join(dist, 'index.html'),
    '<html><head></head><main><!--skeleton-->bones<!--/skeleton--></main></html>',
  )
  writeFileSync(join(dist, 'first-view.mjs'), code)
  return dist
}

const draws =
  'export const drawFirstView = (search, { items }) => `${search.get("q")}: ${items.join()} $& $1`'

it('replaces the skeleton with HTML from the answer for this caller', async () => {
  await using explorer = await startExplorer(
    (_request, response, { headers }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ items: [headers['x-forwarded-for'] ?? 'none'] }))
    },
    { dist: pagesWith(draws) },
  )
  const { text, headers } = await explorer.get('/?q=vpc')
  expect(text).toContain('<main>vpc: 127.0.0.1 $& $1</main>')
  expect(headers['cache-control']).toBe('no-store')
  expect(headers['vary']).toBe('Cookie, Accept-Encoding, Sec-Fetch-Site')
})

it.each([
  ['/stats', 200],
  ['/network/module/vpc', 200],
  ['/nowhere', 200],
  ['/', 403],
  ['/', 400],
])('keeps the skeleton of %s if the server answers %i', async (path, status) => {
  await using explorer = await startExplorer(
    (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end('{"items":[]}')
    },
    { dist: pagesWith(draws) },
  )
  expect((await explorer.get(path)).text).toContain('>bones<')
})

it.each([
  'throw new Error("broken")',
  'export const drawFirstView = () => { throw new Error("x") }',
])('keeps the skeleton and logs the error if rendering fails: %s', async (code) => {
  await using explorer = await startExplorer(undefined, { dist: pagesWith(code) })
  const { status, text } = await explorer.get('/')
  expect([status, text.includes('>bones<')]).toEqual([200, true])
  expect(explorer.log.join('')).toContain('the first view of a page cannot be drawn')
})

it('is not served as a file', async () => {
  await using explorer = await startExplorer(undefined, { dist: pagesWith(draws) })
  const { status, text } = await explorer.get('/first-view.mjs')
  expect([status, text.includes('drawFirstView')]).toEqual([404, false])
})
