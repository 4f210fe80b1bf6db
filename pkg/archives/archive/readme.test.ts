import { expect, it } from 'vitest'
import { readmeOf } from './module-archive.ts'

const maxBytes = 512 * 1024

const fileOf = (path: string, content = path) => {
  const bytes = Buffer.from(content)
  return { path, bytes, sizeBytes: bytes.length }
}

async function* read({ bytes, sizeBytes }: ReturnType<typeof fileOf>) {
  yield bytes.subarray(0, sizeBytes)
}

it.each([
  { names: ['readme.txt', 'Readme.MD', 'README'], expected: 'Readme.MD' },
  { names: ['README.rst', 'main.tf'], expected: 'README.rst' },
  { names: ['main.tf'], expected: undefined },
])('finds the README $expected among $names', async ({ names, expected }) => {
  const files = names.map((name) => fileOf(name))
  const readme = await readmeOf(files, read, maxBytes)
  expect(readme).toEqual(expected && { path: expected, text: expected })
})

it('cuts a README after 512 KiB, between two characters', async () => {
  const files = [fileOf('README.md', `a${'ü'.repeat(300_000)}`), fileOf('main.tf')]
  const { text = '' } = (await readmeOf(files, read, maxBytes)) ?? {}
  expect(text.startsWith(`a${'ü'.repeat(262_143)}\n\n*The rest`)).toBe(true)
})
