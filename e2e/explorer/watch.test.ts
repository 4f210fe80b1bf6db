import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { chromiumPath, launchBrowser, watch } from './browser.fixture.ts'

/* Tests of the checks in the other tests: a page does everything that a page must never do. */

let browser: Browser
beforeAll(async () => {
  if (chromiumPath !== undefined) browser = await launchBrowser()
})
afterAll(() => browser?.close())

const policy = "default-src 'none'; script-src 'self'; connect-src *; img-src 'self' data:"

/** A site with one page that runs this script. */
async function siteWith(script: string): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/script.js') {
      response.setHeader('Content-Type', 'text/javascript').end(script)
    } else if (request.url === '/') {
      response.setHeader('Content-Security-Policy', policy)
      response.setHeader('Content-Type', 'text/html')
      response.end(
        '<!doctype html><link rel="icon" href="data:,"><script src="/script.js"></script>',
      )
    } else response.writeHead(404).end()
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const style =
  'const s = document.createElement("style"); s.textContent = "a{}"; document.head.append(s)'

describe.skipIf(chromiumPath === undefined)('the fixture notices', () => {
  it.each([
    ['an error in the console', 'console.error("oh no")', /^oh no$/],
    ['a warning in the console', 'console.warn("careful")', /^careful$/],
    ['an error that nothing catches', 'throw new Error("broken")', /^not caught: .*broken/],
    ['a promise that nothing catches', 'Promise.reject(new Error("late"))', /^not caught: .*late/],
    ['a style in the page', style, /Content Security Policy/],
    ['a script in the page', style.replaceAll('style', 'script'), /Content Security Policy/],
    ['code made of text', 'try { eval("1") } catch {}', /Content Security Policy/],
    [
      'a picture of another host',
      'new Image().src = "http://localhost:65533/a.png"',
      /localhost:65533/,
    ],
    [
      'a request to another host',
      'fetch("http://localhost:65533/a").catch(() => 0)',
      /^a request to http:\/\/localhost:65533\/a$/,
    ],
    [
      'a request to another port',
      'fetch("http://127.0.0.1:65533/a").catch(() => 0)',
      /^a request to http:\/\/127\.0\.0\.1:65533\/a$/,
    ],
    ['an answer that is an error', 'fetch("/nothing")', /status of 404/],
  ])('%s', async (_what, script, problem) => {
    const origin = await siteWith(script)
    const { page, problems, close } = await watch(browser, origin)
    await page.goto('/')
    await expect.poll(() => problems).toContainEqual(expect.stringMatching(problem))
    await close()
  })

  it('and a status that a test does not expect, but not one that it expects', async () => {
    const origin = await siteWith('fetch("/nothing").then(() => console.error("the end"))')
    const { page, problems, close } = await watch(browser, origin, { expected: [404] })
    await page.goto('/')
    await expect.poll(() => problems).toEqual(['the end'])
    await close()
  })
})
