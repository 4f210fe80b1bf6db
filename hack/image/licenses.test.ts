import { expect, it } from 'vitest'
import { refusedLicenses } from './licenses.ts'

it.each(['MIT', 'Apache-2.0', '(MIT OR GPL-3.0-only)', 'MIT AND ISC', '(MIT AND Zlib)'])(
  'a package under %s may be in the image',
  (license) => {
    expect(refusedLicenses([{ name: 'it', license }])).toEqual([])
  },
)

it.each(['GPL-3.0-only', 'MIT AND GPL-2.0-only', 'NOASSERTION', 'SEE LICENSE IN LICENSE', ''])(
  'a package under "%s" may not',
  (license) => {
    expect(refusedLicenses([{ name: 'it', license }])).toEqual([
      `it is licensed as ${license}, which is not on the list`,
    ])
  },
)

it('an exception applies to one package under one licence', () => {
  const license = 'LGPL-3.0+'
  expect(refusedLicenses([{ name: 'openpgp', license }])).toEqual([])
  expect(refusedLicenses([{ name: '@cdktn/hcl2json', license: 'MPL-2.0' }])).toEqual([])
  expect(refusedLicenses([{ name: 'another', license }])).toHaveLength(1)
  expect(refusedLicenses([{ name: 'openpgp', license: 'MPL-2.0' }])).toHaveLength(1)
  expect(refusedLicenses([{ name: 'openpgp', license: 'GPL-3.0-only' }])).toHaveLength(1)
})
