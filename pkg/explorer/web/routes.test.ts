import { expect, it } from 'vitest'
import { matchRoute } from './routes.ts'

it.each([
  ['/', 'resources', 200, '/-/api/resources'],
  ['/?q=net&page=2', 'resources', 200, '/-/api/resources?q=net&page=2'],
  ['/platform/module/vpc', 'resource', 200, '/-/api/resources/platform/module/vpc'],
  ['/-/r/depot/provider/aws', 'resource', 200, '/-/api/resources/depot/provider/aws'],
  ['/depots?namespace=a&node=b', 'depots', 200, '/-/api/depots/graph?namespace=a'],
  ['/stats', 'stats', 200, '/-/api/stats'],
  ['/access', 'access', 200, '/-/api/whoami'],
  ['/platform/depot/vpc', 'not-found', 404, undefined],
  ['/nothing', 'not-found', 404, undefined],
])('%s is the page %s', (path, page, status, primeUrl) => {
  const route = matchRoute(new URL(path, 'http://localhost'))
  expect([route.page, route.status, route.primeUrl]).toEqual([page, status, primeUrl])
})
