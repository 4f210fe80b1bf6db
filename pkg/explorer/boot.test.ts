import { expect, it } from 'vitest'
import { type Boot, dataBlock, parseBoot, parseTheme, themeCookie } from './boot.ts'

const boot: Boot = {
  registryHost: 'registry.example.com:8443',
  baseUrl: 'https://registry.example.com:8443',
  oidc: true,
  devTokenInput: false,
  devTokenInUse: false,
  signedIn: true,
  name: '</script><script>alert(1)</script><!--',
  expiresAt: 1,
  endsAt: 2,
  refreshInMs: 3,
  version: '1.0.0',
}

it('reads what it wrote, and markup in a name cannot end the script element', () => {
  const text = dataBlock(boot)
  expect(text).not.toContain('<')
  expect(parseBoot(text)).toEqual(boot)
})

it('reads missing values as switched off', () => {
  expect(parseBoot('{}')).toEqual({
    registryHost: '',
    baseUrl: '',
    oidc: false,
    devTokenInput: false,
    devTokenInUse: false,
    signedIn: false,
    version: '',
  })
})

it.each([
  ['light', 'light'],
  ['dark', 'dark'],
  ['"><script>', undefined],
  [undefined, undefined],
])(`reads %j in the cookie ${themeCookie} as the theme %j`, (text, theme) => {
  expect(parseTheme(text)).toBe(theme)
})
