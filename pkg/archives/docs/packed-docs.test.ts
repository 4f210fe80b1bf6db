import { expect, it } from 'vitest'
import { compareModules } from '../compare/compare.ts'
import { packedDocs, unpackDocs } from './read-docs.ts'

/** The stored documentation of files that are given by path and text. */
async function storedDocs(files: Readonly<Record<string, string>>) {
  const all = Object.entries(files).map(([path, text]) => ({
    path,
    sizeBytes: Buffer.byteLength(text),
    text,
  }))
  const { bytes } = await packedDocs(all, async function* ({ text, sizeBytes }) {
    yield Buffer.from(text).subarray(0, sizeBytes)
  })
  return unpackDocs(bytes)
}

const json = (inputs: Readonly<Record<string, object>>) => JSON.stringify({ variable: inputs })
const readme = 'x'.repeat(250_000)
const cidr = json({ cidr: { type: 'string', description: 'A range.', default: '10.0.0.0/8' } })
const folders = (parent: string) =>
  Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [
      [`${parent}/${at}/main.tf.json`, cidr],
      [`${parent}/${at}/README.md`, readme],
    ]).flat(),
  )
const root = { 'README.md': readme, 'main.tf.json': cidr }
/** Inputs with a long text in each of three files, because files have a limit, too. */
const large = (inputOf: (text: string) => object) =>
  Object.fromEntries(
    [1, 2, 3].map((at) => [
      `large${at}.tf.json`,
      json({ [`large${at}`]: inputOf(readme.repeat(4)) }),
    ]),
  )

it('leaves nothing out of documentation that fits', async () => {
  const docs = await storedDocs(root)
  expect(docs).not.toHaveProperty('leftOut')
  expect(docs.root).toMatchObject({ readme, inputs: [{ default: '10.0.0.0/8' }] })
})

it('leaves out READMEs of examples or submodules, whichever there are', async () => {
  const examples = await storedDocs({ ...root, ...folders('examples') })
  expect(examples.leftOut).toEqual(['exampleReadmes'])
  expect(examples.root.readme === readme).toBe(true)
  expect(examples.examples[0]).toMatchObject({ inputs: [{ name: 'cidr' }] })
  const { submodules, ...rest } = await storedDocs({ ...root, ...folders('modules') })
  expect(rest.leftOut).toEqual(['submoduleReadmes'])
  expect(rest.root.readme === readme).toBe(true)
  expect(submodules.map((one) => one.readme)).toEqual(Array.from({ length: 9 }))
})

it('leaves out defaults, and still tells which inputs callers may omit', async () => {
  const docs = await storedDocs({ ...root, ...large((text) => ({ default: text })) })
  expect(docs.leftOut).toEqual(['defaults'])
  expect(docs.root.readme === readme).toBe(true)
  expect(docs.root.inputs).toHaveLength(4)
  for (const input of docs.root.inputs) {
    expect(input.required).toBe(false)
    expect(input).not.toHaveProperty('default')
  }
})

it('leaves out descriptions last', async () => {
  const docs = await storedDocs({ ...root, ...large((text) => ({ description: text })) })
  expect(docs.leftOut?.at(-1)).toBe('descriptions')
  expect(docs.root).not.toHaveProperty('readme')
  expect(docs.root.error).toBeUndefined()
  expect(docs.root.inputs.map(({ name, required }) => [name, required])).toEqual([
    ['large1', true],
    ['large2', true],
    ['large3', true],
    ['cidr', false],
  ])
})

it('has only an error if names and types alone exceed the limit', async () => {
  const docs = await storedDocs({ ...root, ...large((text) => ({ type: text })) })
  expect(docs.root.inputs).toEqual([])
  expect(docs.root.error?.message).toContain('shorten types and messages')
})

it('still shows what breaks callers, and claims nothing about omitted parts', async () => {
  const before = await storedDocs({
    ...root,
    'more.tf.json': json({ gone: {}, now: { default: 1 } }),
  })
  const after = await storedDocs({
    ...root,
    ...large((text) => ({ default: text })),
    'more.tf.json': json({ now: {} }),
  })
  const numbers = { from: '1.0.0', to: '1.1.0' }
  const { changes, readme: readmes } = compareModules(before, after, numbers)
  expect(
    changes.filter((change) => change.verdict !== 'compatible').map(({ name, why }) => [name, why]),
  ).toEqual([
    ['now', 'Callers must set the input, because it no longer has a default.'],
    ['gone', 'The input was removed; callers that set it get an error.'],
  ])
  expect(changes.filter(({ name }) => name === 'cidr')).toEqual([])
  expect(readmes).toBe('same')
  const back = compareModules(after, before, numbers).changes.find(({ name }) => name === 'large1')
  expect(back?.before).toBe('any')
  const short = await storedDocs({ ...root, ...large((text) => ({ description: text })) })
  expect(compareModules(before, short, numbers).readme).toBe('unknown')
})
