/*
 * The licences that a package in the image may have: permissive ones, and two weak copyleft licences by name.
 */

const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'PSF-2.0',
  'Python-2.0',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
])

/** Copyleft that ends at the library: it is a file of its own in the image, unchanged, and can be replaced. */
const exceptions = new Map([
  ['openpgp', 'LGPL-3.0+'],
  ['@cdktn/hcl2json', 'MPL-2.0'],
])

/** Is an SPDX expression allowed? Of alternatives one is enough, of a conjunction every part must be. */
function isPermissive(expression: string): boolean {
  const inner = expression.trim().replace(/^\((.*)\)$/, '$1')
  if (/ OR /i.test(inner)) return inner.split(/ OR /i).some(isPermissive)
  return inner.split(/ AND /i).every((part) => permissive.has(part.trim().replace(/^\(|\)$/g, '')))
}

/** Names each package that may not be in the image, and its licence. */
export function refusedLicenses(
  packages: readonly { readonly name: string; readonly license: string }[],
): string[] {
  return packages
    .filter(({ name, license }) => !isPermissive(license) && exceptions.get(name) !== license)
    .map(({ name, license }) => `${name} is licensed as ${license}, which is not on the list`)
}
