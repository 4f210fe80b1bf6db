import { expect, it } from 'vitest'
import { emptyRoot, type FolderDocs, type InputDocs } from '../../api/docs/docs.ts'
import { compareModules } from './compare.ts'

/* A file of a module has at most a megabyte, and a server compares modules of all publishers. */

const megabyte = 2 ** 20
const filledWith = (part: string): string => part.repeat(megabyte / part.length)

const input = (rest: Partial<InputDocs>): InputDocs => ({
  name: 'a',
  required: true,
  sensitive: false,
  nullable: true,
  ephemeral: false,
  validations: [],
  ...rest,
})
const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))

const typed = (part: string) => ({ inputs: [input({ type: filledWith(part) })] })
const constraint = (first: number): string => many(120, (at) => `>=${first + at}.1`).join(',')
const required = (first: number) => ({
  providers: many(2_000, (at) => ({ name: `p${at}`, version: constraint(first), aliases: [] })),
})
const empty: Partial<FolderDocs> = {}

it.each<[string, Partial<FolderDocs>, Partial<FolderDocs>]>([
  ['a type of comments without an end', typed('/*'), empty],
  ['a type of quotes', typed('\\"'), empty],
  ['a type of brackets', typed('object({a='), empty],
  ['a type of defaults', typed('optional(a,'), empty],
  [
    'many validations',
    { inputs: [input({ validations: many(30_000, (at) => ({ message: `a ${at}` })) })] },
    { inputs: [input({ validations: many(30_000, (at) => ({ message: `b ${at}` })) })] },
  ],
  [
    'many configurations of a provider',
    { providers: [{ name: 'a', aliases: many(60_000, (at) => `a.a${at}`) }] },
    { providers: [{ name: 'a', aliases: many(60_000, (at) => `a.b${at}`) }] },
  ],
  [
    'many providers and resources',
    { resources: many(30_000, (at) => ({ mode: 'managed', type: `r${at}_x`, name: 'a' })) },
    { providers: many(10_000, (at) => ({ name: `p${at}`, version: '1.0.0', aliases: [] })) },
  ],
  ['long constraints of many providers', required(1), required(2)],
  [
    'a moved block of brackets',
    { resources: [{ mode: 'managed', type: 'a', name: 'b' }] },
    {
      refactorings: ['[', '["', '[\\"', 'a["[\\"', '["[\\"]', '["a"'].flatMap((part) => [
        { from: filledWith(part) },
        { from: `${filledWith(part)}"[` },
        { from: `["${filledWith(part)}"]` },
      ]),
    },
  ],
])('compares %s fast', (_what, before, after) => {
  const moduleOf = (root: Partial<FolderDocs>) => ({
    schema: 1 as const,
    root: { ...emptyRoot, ...root },
    submodules: [],
    examples: [],
  })
  const other = after === empty ? { inputs: [input({ type: 'string' })] } : after
  const began = process.threadCpuUsage()
  compareModules(moduleOf(before), moduleOf(other), { from: '1.0.0', to: '1.1.0' })
  const { user, system } = process.threadCpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(400)
})

it('says that it cannot decide about constraints that exceed its limit', () => {
  const moduleOf = (first: number) => ({
    schema: 1 as const,
    root: { ...emptyRoot, ...required(first) },
    submodules: [],
    examples: [],
  })
  const { changes } = compareModules(moduleOf(1), moduleOf(2), { from: '1.0.0', to: '1.1.0' })
  const why = 'The changed version constraints are too long to compare.'
  expect(changes.at(-1)).toMatchObject({ verdict: 'unknown', why })
})
