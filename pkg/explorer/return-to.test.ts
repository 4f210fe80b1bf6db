import { expect, it } from 'vitest'
import { safeReturnTo } from './login.ts'

const origin = 'https://registry.example.com'

it.each([
  ['/', '/'],
  ['/stats', '/stats'],
  ['/platform/module/vpc?tool=tofu#versions', '/platform/module/vpc?tool=tofu#versions'],
  ['/?q=https://evil.example/', '/?q=https://evil.example/'],
  ['/a/../stats', '/stats'],
  ['/authors', '/authors'],
  ['/%E2%82%AC', '/%E2%82%AC'],
  ['/?next=//evil.example', '/?next=//evil.example'],
])('allows %j', (asked, path) => {
  expect(safeReturnTo(asked, origin)).toBe(path)
})

const attacks = [
  undefined,
  '',
  'stats',
  'https://evil.example/',
  'HTTPS://evil.example/',
  'https:evil.example',
  'https:/evil.example',
  'https://registry.example.com.evil.example/',
  'https://registry.example.com@evil.example/',
  '//evil.example',
  '///evil.example',
  '////evil.example/%2f..',
  '/\\evil.example',
  '\\/evil.example',
  '\\\\evil.example',
  '/stats\\..\\..\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/\r\n/evil.example',
  '/stats\r\nSet-Cookie: depot-session=x',
  '/\u0000/evil.example',
  '/\u0085/evil.example',
  '/\u2028/evil.example',
  '/stats\u007f',
  ' /stats',
  ' //evil.example',
  '\t//evil.example',
  '/.//evil.example',
  '/./\\evil.example',
  '/a/..//evil.example',
  '/%2e//evil.example',
  '/%2e%2e//evil.example',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '?q=1',
  '#top',
  '@evil.example',
  '.evil.example',
  '/auth/login',
  '/auth/login?returnTo=/auth/login',
  '/auth',
  '/AUTH/logout',
  '/a/../auth/callback',
  '/%61uth/login',
  '/%2561uth/../auth/login',
  `/${'a'.repeat(3000)}`,
]

it('is tested with at least forty attacks', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(40)
})

it.each(attacks)('replaces %j by the first page', (asked) => {
  expect(safeReturnTo(asked, origin)).toBe('/')
})

it.each(attacks.map((asked) => safeReturnTo(asked, origin)))(
  'stays on the origin however %j is resolved',
  (path) => {
    expect(new URL(path, origin).origin).toBe(origin)
  },
)
