import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { tokenFor } from './credentials.ts'

const home = mkdtempSync(join(tmpdir(), 'depot-credentials-'))
afterAll(() => rmSync(home, { recursive: true }))
const write = (text: string): void => {
  mkdirSync(join(home, '.terraform.d'), { recursive: true })
  writeFileSync(join(home, '.terraform.d/credentials.tfrc.json'), text)
}

it.each([
  ['TF_TOKEN_depot_example_com', 'depot.example.com'],
  ['TF_TOKEN_my__depot_example_com', 'my-depot.example.com'],
  ['TF_TOKEN_my-depot.example.com', 'my-depot.example.com'],
  ['TF_TOKEN_depot_example_com:8443', 'depot.example.com:8443'],
  ['TF_TOKEN_Depot_Example_com', 'DEPOT.example.COM'],
])('takes the token of %s for %s', (variable, host) => {
  expect(tokenFor(host, { [variable]: ' secret\n' }, home)).toBe('secret')
})

it('takes the token of a login, unless a variable has one', () => {
  expect(tokenFor('a.example', {}, home)).toBeUndefined()
  write('{"credentials": {"a.example": {"token": "of a login"}, "b.example": {}}}')
  expect(tokenFor('a.example', {}, home)).toBe('of a login')
  expect(tokenFor('a.example', { TF_TOKEN_a_example: 'of a variable' }, home)).toBe('of a variable')
  expect(tokenFor('a.example', { TF_TOKEN_a_example: '' }, home)).toBe('of a login')
  expect(tokenFor('b.example', {}, home)).toBeUndefined()
  expect(tokenFor('other.a.example', {}, home)).toBeUndefined()
})

it('names a file of logins that is not valid, and never what it holds', () => {
  for (const text of ['secret', '{"credentials": {"a.example": {"token": 5}}}']) {
    write(text)
    expect(() => tokenFor('a.example', {}, home)).toThrow(
      /credentials\.tfrc\.json .*correct it, or run terraform login a\.example/,
    )
    expect(() => tokenFor('a.example', {}, home)).not.toThrow(/secret/)
  }
})
