import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

type Manifest = Readonly<
  Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
>

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const [, section = ''] =
  /^## Packages of npm\n(.*?)^## /ms.exec(readFileSync('DESIGN.md', 'utf8')) ?? []
const [running = '', building = ''] = section.split('For building and testing alone')

const namesIn = (text: string): string[] =>
  [...text.matchAll(/`([^`\s]+)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('hack/') && name !== 'fetch')
    .toSorted()

it.each([
  ['dependencies', running],
  ['devDependencies', building],
] as const)(
  'DESIGN.md has a reason for each of the %s, and for no other package',
  (heading, text) => {
    expect(namesIn(text)).toEqual(Object.keys(manifest[heading]).toSorted())
  },
)
