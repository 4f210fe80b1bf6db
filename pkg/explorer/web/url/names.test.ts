import { expect, it } from 'vitest'
import { matchRoute } from '../routes.ts'
import { resourceHref, resourcesHref, resourcesParams } from './pages.ts'
import { parse } from './search-params.ts'

/* Names in URLs: every character, legal in a name or not, is restored from the URL. */

const everyByte = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
const others = [
  '\u202e',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '😀',
  'ｅ',
  'é',
  '..a',
  'a/../b',
  '%2e',
  '%2f',
  '%',
]
const names = [
  ...everyByte.map((letter) => `a${letter}b`),
  ...everyByte.filter((letter) => letter !== '.'),
  ...others,
  '0',
  'a'.repeat(63),
  'a'.repeat(253),
]
const at = (href: string): URL => new URL(href, 'https://depot.example')

it.each(['module', 'provider'])('a %s with any name and namespace has its own page', (kind) => {
  for (const name of names) {
    for (const address of [
      { namespace: 'team', kind, name },
      { namespace: name, kind, name: 'vpc' },
    ]) {
      const url = at(resourceHref(address, { version: name }))
      expect(url.origin).toBe('https://depot.example')
      expect(matchRoute(url)).toMatchObject({ page: 'resource', resource: address })
      expect(url.searchParams.get('version')).toBe(name)
    }
  }
})

it.each(['.', '..', '', 'a'.repeat(254)])('the name %j has no page', (name) => {
  const url = at(resourceHref({ namespace: 'team', kind: 'module', name }))
  expect(matchRoute(url).page).not.toBe('resource')
})

it.each(['depot', 'broker'])('a namespace %s does not hide paths of the server', (namespace) => {
  const href = resourceHref({ namespace, kind: 'module', name: 'vpc' })
  expect(href).toBe(`/-/r/${namespace}/module/vpc`)
  expect(matchRoute(at(href)).resource).toEqual({ namespace, kind: 'module', name: 'vpc' })
})

it('filters with any text are restored from their URL', () => {
  for (const q of names) {
    const url = at(resourcesHref({ q, namespace: [q, 'other'], os: q }))
    expect(parse(resourcesParams, url.searchParams)).toMatchObject({
      q,
      namespace: [q, 'other'],
      os: q,
    })
  }
})
