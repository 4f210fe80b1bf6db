import { describe, expect, it } from 'vitest'
import { proxyRules } from './http.ts'

const proxy = 'http://proxy.example:3128/'
const ways = (noProxy: string) =>
  proxyRules({ HTTPS_PROXY: proxy, HTTP_PROXY: 'http://plain.example:3128', NO_PROXY: noProxy })

describe('NO_PROXY', () => {
  it.each([
    ['', 'https://login.example.com', true],
    ['example.com', 'https://example.com', false],
    ['example.com', 'https://login.example.com', false],
    ['EXAMPLE.com', 'https://login.Example.COM', false],
    ['example.com', 'https://badexample.com', true],
    ['.example.com', 'https://login.example.com', false],
    ['*.example.com', 'https://login.example.com', false],
    ['.example.com', 'https://example.com', true],
    ['.svc,.cluster.local', 'https://dex.auth.svc.cluster.local:5556/keys', false],
    ['example.com:8443', 'https://example.com:8443/x', false],
    ['example.com:8443', 'https://example.com/x', true],
    ['example.com:443', 'https://example.com/x', false],
    ['10.0.0.0/8', 'https://10.1.2.3:6443', false],
    ['10.0.0.0/8', 'https://11.1.2.3', true],
    ['10.0.0.0/99', 'https://10.1.2.3', true],
    ['10.1.2.3', 'https://10.1.2.3', false],
    ['fd00::/8', 'https://[fd00::1]', false],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', false],
    ['fd00::1', 'https://[fd00::1]', false],
    ['a, b c', 'https://c', false],
    ['*', 'https://login.example.com', false],
    ['', 'https://127.0.0.1:8443', false],
    ['', 'https://localhost', false],
    ['', 'https://[::1]', false],
  ])('%j: %s goes through the proxy: %s', (noProxy, url, expected) => {
    expect(ways(noProxy).proxyFor(url)).toBe(expected ? proxy : undefined)
  })
})

it('uses a proxy for each scheme', () => {
  expect(ways('').proxyFor('http://example.com')).toBe('http://plain.example:3128/')
  expect(proxyRules({ HTTPS_PROXY: proxy }).proxyFor('http://example.com')).toBeUndefined()
})

it('reads names in lower case after those in capitals, and ignores empty values', () => {
  expect(proxyRules({ https_proxy: 'p.example:1' }).proxyFor('https://h')).toBe(
    'http://p.example:1/',
  )
  const both = proxyRules({ HTTPS_PROXY: '', https_proxy: 'p.example:1', no_proxy: 'h' })
  expect(both.proxyFor('https://h')).toBeUndefined()
})

it('reports an invalid address without its credentials', () => {
  const { problems, proxyFor } = proxyRules({ HTTPS_PROXY: 'ftp://me:hunter2@h' })
  expect(problems).toEqual([
    'HTTPS_PROXY is not the address of a proxy: write http://HOST:PORT, or remove the variable',
  ])
  expect(proxyFor('https://h')).toBeUndefined()
})
