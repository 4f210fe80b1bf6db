import { expect, it } from 'vitest'
import { matchRoute } from './routes.ts'
import { resourceHref, resourceParams } from './url/pages.ts'
import { parse } from './url/search-params.ts'

it.each([
  ['/', 'resources', '/-/api/resources'],
  ['/?q=net&page=2', 'resources', '/-/api/resources?q=net&page=2&match=any'],
  ['/?q=n', 'resources', '/-/api/resources?q=n'],
  ['/?page=0&page_size=17&severity=bad&x=1', 'resources', '/-/api/resources'],
  ['/?view=cards&namespace=b&namespace=a', 'resources', '/-/api/resources?namespace=b&namespace=a'],
  ['/platform/module/vpc', 'resource', '/-/api/resources/platform/module/vpc?findings=false'],
  ['/platform/module/vpc/', 'resource', '/-/api/resources/platform/module/vpc?findings=false'],
  ['/a%2Fb/module/%3Cb%3E', 'resource', '/-/api/resources/a%2Fb/module/%3Cb%3E?findings=false'],
  ['/-/r/depot/provider/aws', 'resource', '/-/api/resources/depot/provider/aws?findings=false'],
  [
    '/-/r/depot/module/vpc/compare/1...2/',
    'compare',
    '/-/api/resources/depot/module/vpc?findings=false',
  ],
  [
    '/-/r/depot/provider/cmdb/docs/resources/host?version=1.0.0',
    'docs',
    '/-/api/resources/depot/provider/cmdb?version=1.0.0&findings=false',
  ],
  ['/depots?namespace=a&node=b', 'depots', '/-/api/depots/graph?namespace=a'],
  ['/stats', 'stats', '/-/api/stats'],
  ['/stats/?namespace=a', 'stats', '/-/api/stats?namespace=a'],
  ['/depots/', 'depots', '/-/api/depots/graph'],
  ['/conflicts?reason=x&q=vpc', 'conflicts', '/-/api/conflicts?q=vpc'],
  ['/held-back?order=free&why=x', 'held-back', '/-/api/held-back?order=free'],
  ['/publish?kind=provider&name=cmdb', 'publish', '/-/api/publish-rights'],
  ['/access', 'access', '/-/api/whoami'],
])('%s is the page %s and starts from %s', (path, page, primeUrl) => {
  expect(matchRoute(new URL(path, 'http://localhost'))).toMatchObject({
    page,
    status: 200,
    primeUrl,
  })
})

it.each([
  ['1.0.0...2.0.0', '1.0.0', '2.0.0'],
  ['1.0.0-rc.1...2.0.0%2Bbuild.1', '1.0.0-rc.1', '2.0.0+build.1'],
  ['...2.0.0', '', '2.0.0'],
  ['1.0.0...', '1.0.0', ''],
  ['', '', ''],
])('compare/%s compares "%s" with "%s"', (range, from, to) => {
  const path = `/platform/module/vpc/compare/${range}`
  expect(matchRoute(new URL(path, 'http://localhost')).range).toEqual({ from, to })
})

it.each([
  ['docs', '', ''],
  ['docs/', '', ''],
  ['docs/guides/a%20b/', 'guides', 'a b'],
])('%s is the page "%s/%s" of the documentation', (path, category, slug) => {
  const url = new URL(`/platform/provider/cmdb/${path}`, 'http://localhost')
  expect(matchRoute(url).place).toEqual({ category, slug })
})

it.each([
  ['/network/module/vpc/submodules/peering', 'submodules', 'peering'],
  ['/-/r/depot/module/vpc/examples/a%20b/?version=1.0.0', 'examples', 'a b'],
] as const)('%s is a page of the %s', (path, tab, name) => {
  const url = new URL(path, 'http://localhost')
  const { page, resource } = matchRoute(url)
  expect([page, resource?.folder]).toEqual(['resource', { tab, name }])
  if (resource === undefined) throw new Error('no resource')
  const { version } = parse(resourceParams, url.searchParams)
  expect(resourceHref(resource, { version })).toBe(url.pathname.replace(/\/$/, '') + url.search)
})

it.each([
  '/a/module/b/submodules',
  '/a/module/b/submodules/..%2fc/d',
  '/a/provider/b/submodules/c',
  '/stats//',
  '/platform/depot/vpc',
  '/nothing',
  '/a/module/b/c',
  '/a/module/b/compare/1.0.0',
  '/a/module/b/compare/1...2/3',
  '/a/provider/b/compare/1...2',
  '/a/module/b/docs',
  '/a/provider/b/docs/resources',
  '/a/module/%ff',
  '/-/r/a/module',
])('%s is not a page', (path) => {
  expect(matchRoute(new URL(path, 'http://localhost'))).toEqual({
    page: 'not-found',
    status: 404,
  })
})
