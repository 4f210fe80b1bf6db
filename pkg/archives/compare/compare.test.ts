import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyRoot, type FolderDocs, type InputDocs, type ModuleDocs } from '../../api/docs/docs.ts'
import { compareModules } from './compare.ts'

const moduleOf = (root: Partial<FolderDocs>, rest: Partial<ModuleDocs> = {}): ModuleDocs => ({
  schema: 1,
  root: { ...emptyRoot, ...root },
  submodules: [],
  examples: [],
  ...rest,
})
const input = (name: string, rest: Partial<InputDocs> = {}): InputDocs => ({
  name,
  required: rest.default === undefined,
  sensitive: false,
  nullable: true,
  ephemeral: false,
  validations: [],
  ...rest,
})
const output = (name: string, rest: Partial<FolderDocs['outputs'][number]> = {}) => ({
  name,
  sensitive: false,
  ephemeral: false,
  ...rest,
})
const resource = (type: string, name = 'this', mode: 'managed' | 'data' = 'managed') => ({
  mode,
  type,
  name,
})
const aws = (rest: Partial<FolderDocs['providers'][number]> = {}) => ({
  name: 'aws',
  source: 'hashicorp/aws',
  version: '~> 5.0',
  aliases: [],
  ...rest,
})

const versions = { from: '1.0.0', to: '1.1.0' }
const compare = (before: Partial<FolderDocs>, after: Partial<FolderDocs>) =>
  compareModules(moduleOf(before), moduleOf(after), versions)

type Row = readonly [string, Partial<FolderDocs>, Partial<FolderDocs>, string, string]
const rows: readonly Row[] = [
  ['a new required input', {}, { inputs: [input('a')] }, 'breaking', 'input a'],
  [
    'a new input with a default',
    {},
    { inputs: [input('a', { default: 1 })] },
    'compatible',
    'input a',
  ],
  ['a removed input', { inputs: [input('a')] }, {}, 'breaking', 'input a'],
  [
    'a narrower type',
    { inputs: [input('a', { type: 'string' })] },
    { inputs: [input('a', { type: 'number' })] },
    'breaking',
    'input a',
  ],
  [
    'a type that cannot be read',
    { inputs: [input('a', { type: 'string' })] },
    { inputs: [input('a', { type: 'strin' })] },
    'unknown',
    'input a',
  ],
  [
    'a removed default',
    { inputs: [input('a', { default: 1 })] },
    { inputs: [input('a')] },
    'breaking',
    'input a',
  ],
  [
    'a default of null that was removed',
    { inputs: [input('a', { default: null, required: false })] },
    { inputs: [input('a')] },
    'breaking',
    'input a',
  ],
  [
    'a new default',
    { inputs: [input('a')] },
    { inputs: [input('a', { default: 1 })] },
    'compatible',
    'input a',
  ],
  [
    'a changed default',
    { inputs: [input('a', { default: 1 })] },
    { inputs: [input('a', { default: 2 })] },
    'compatible',
    'input a',
  ],
  [
    'null that is refused',
    { inputs: [input('a')] },
    { inputs: [input('a', { nullable: false })] },
    'breaking',
    'input a',
  ],
  [
    'ephemeral values that are refused',
    { inputs: [input('a', { ephemeral: true })] },
    { inputs: [input('a')] },
    'breaking',
    'input a',
  ],
  [
    'a sensitive input',
    { inputs: [input('a')] },
    { inputs: [input('a', { sensitive: true })] },
    'compatible',
    'input a',
  ],
  [
    'a deprecated input',
    { inputs: [input('a')] },
    { inputs: [input('a', { deprecated: 'use b' })] },
    'compatible',
    'input a',
  ],
  [
    'a new validation',
    { inputs: [input('a')] },
    { inputs: [input('a', { validations: [{ message: 'no' }] })] },
    'unknown',
    'input a',
  ],
  [
    'a removed validation',
    { inputs: [input('a', { validations: [{ message: 'no' }] })] },
    { inputs: [input('a')] },
    'compatible',
    'input a',
  ],
  ['a new output', {}, { outputs: [output('o')] }, 'compatible', 'output o'],
  ['a removed output', { outputs: [output('o')] }, {}, 'breaking', 'output o'],
  [
    'a sensitive output',
    { outputs: [output('o')] },
    { outputs: [output('o', { sensitive: true })] },
    'breaking',
    'output o',
  ],
  [
    'an output that is not sensitive any more',
    { outputs: [output('o', { sensitive: true })] },
    { outputs: [output('o')] },
    'compatible',
    'output o',
  ],
  [
    'an ephemeral output',
    { outputs: [output('o')] },
    { outputs: [output('o', { ephemeral: true })] },
    'breaking',
    'output o',
  ],
  [
    'a higher minimum of the CLI',
    { requiredVersion: '>= 1.3' },
    { requiredVersion: '>= 1.5' },
    'breaking',
    'requiredVersion required_version',
  ],
  [
    'a first requirement of the CLI',
    {},
    { requiredVersion: '>= 1.3' },
    'breaking',
    'requiredVersion required_version',
  ],
  [
    'a lower minimum of the CLI',
    { requiredVersion: '>= 1.5' },
    { requiredVersion: '>= 1.3' },
    'compatible',
    'requiredVersion required_version',
  ],
  [
    'a requirement that cannot be read',
    { requiredVersion: '>= 1.5' },
    { requiredVersion: 'five' },
    'unknown',
    'requiredVersion required_version',
  ],
  ['a new provider', {}, { providers: [aws()] }, 'compatible', 'provider aws'],
  [
    'a bound on a provider that resources implied',
    { resources: [resource('aws_vpc')] },
    { resources: [resource('aws_vpc')], providers: [aws()] },
    'breaking',
    'provider aws',
  ],
  ['a removed provider', { providers: [aws()] }, {}, 'compatible', 'provider aws'],
  [
    'a new major version of a provider',
    { providers: [aws()] },
    { providers: [aws({ version: '~> 6.0' })] },
    'breaking',
    'provider aws',
  ],
  [
    'more versions of a provider',
    { providers: [aws()] },
    { providers: [aws({ version: '>= 5.0' })] },
    'compatible',
    'provider aws',
  ],
  [
    'another provider under the same name',
    { providers: [aws()] },
    { providers: [aws({ source: 'acme/aws' })] },
    'breaking',
    'provider aws',
  ],
  [
    'the full address of the same provider',
    { providers: [aws()] },
    { providers: [aws({ source: 'registry.terraform.io/hashicorp/aws' })] },
    'compatible',
    'provider aws',
  ],
  [
    'a configuration that callers must pass',
    { providers: [aws()] },
    { providers: [aws({ aliases: ['aws.east'] })] },
    'breaking',
    'provider aws',
  ],
  [
    'a configuration that callers cannot pass any more',
    { providers: [aws({ aliases: ['aws.east'] })] },
    { providers: [aws()] },
    'breaking',
    'provider aws',
  ],
  [
    'a new resource',
    {},
    { resources: [resource('aws_vpc')] },
    'compatible',
    'resource aws_vpc.this',
  ],
  [
    'a removed resource',
    { resources: [resource('aws_vpc')] },
    {},
    'breaking',
    'state aws_vpc.this',
  ],
  [
    'a moved resource',
    { resources: [resource('aws_vpc')] },
    {
      resources: [resource('aws_vpc', 'main')],
      refactorings: [{ from: 'aws_vpc.this', to: 'aws_vpc.main' }],
    },
    'compatible',
    'state aws_vpc.this',
  ],
  [
    'a moved instance of a resource',
    { resources: [resource('aws_vpc')] },
    { refactorings: [{ from: 'aws_vpc.this[0]', to: 'module.x.aws_vpc.main' }] },
    'compatible',
    'state aws_vpc.this',
  ],
  [
    'a resource that leaves the state without being destroyed',
    { resources: [resource('aws_vpc')] },
    { refactorings: [{ from: 'aws_vpc.this' }] },
    'compatible',
    'state aws_vpc.this',
  ],
  [
    'a removed data source',
    { resources: [resource('aws_ami', 'this', 'data')] },
    {},
    'compatible',
    'resource data.aws_ami.this',
  ],
  [
    'a removed module call',
    { modules: [{ name: 'm', source: './m' }] },
    {},
    'breaking',
    'state module.m',
  ],
  [
    'a moved module call',
    { modules: [{ name: 'm', source: './m' }] },
    { refactorings: [{ from: 'module.m', to: 'module.n' }] },
    'compatible',
    'state module.m',
  ],
  [
    'another version of a called module',
    { modules: [{ name: 'm', source: 'a/b/c', version: '1.0.0' }] },
    { modules: [{ name: 'm', source: 'a/b/c', version: '2.0.0' }] },
    'unknown',
    'module m',
  ],
  ['a new module call', {}, { modules: [{ name: 'm', source: './m' }] }, 'compatible', 'module m'],
  ['a file that cannot be parsed', {}, { error: { message: 'Invalid' } }, 'unknown', 'parser '],
]

it.each(rows)('%s', (_, before, after, verdict, change) => {
  const compared = compare(before, after)
  expect(compared.changes.map(({ kind, name }) => `${kind} ${name}`)).toContain(change)
  const found = compared.changes.find(({ kind, name }) => `${kind} ${name}` === change)
  expect(found?.verdict).toBe(verdict)
  expect(found?.why).toMatch(/^[A-Z].*\.$/)
})

describe('the comparison of two versions', () => {
  it('has the worst verdict, and the worst changes first', () => {
    const { verdict, changes } = compare(
      { inputs: [input('a', { default: 1 }), input('b')] },
      { inputs: [input('a', { default: 2 })] },
    )
    expect(verdict).toBe('breaking')
    expect(changes.map((change) => change.verdict)).toEqual(['breaking', 'compatible'])
  })

  it('reports no change of a version that cannot be parsed', () => {
    const whole = { inputs: [input('a')], providers: [aws()] }
    const broken = { error: { message: 'Invalid expression', file: 'main.tf', line: 4 } }
    const of = (version: string) =>
      `A file of the ${version} version cannot be parsed: Invalid expression.`
    for (const [before, after, version] of [
      [whole, broken, 'later'],
      [broken, whole, 'earlier'],
    ] as const) {
      const { verdict, changes, dependencies } = compare(before, after)
      expect(verdict).toBe('unknown')
      expect(changes).toMatchObject([{ name: 'main.tf:4', why: of(version) }])
      expect(dependencies).toEqual([])
    }
  })

  it('omits the text of a version only if that version does not have the item', () => {
    const before = {
      inputs: [
        input('default'),
        input('no default', { default: 1 }),
        input('deprecated'),
        input('checked', { default: 1 }),
        input('free', { default: 1, validations: [{ message: 'x' }] }),
      ],
      resources: [resource('aws_vpc')],
    }
    const after = {
      inputs: [
        input('default', { default: 1 }),
        input('no default'),
        input('deprecated', { deprecated: 'use b' }),
        input('checked', { default: 1, validations: [{ message: 'x' }] }),
        input('free', { default: 1 }),
      ],
      resources: [resource('aws_vpc')],
      requiredVersion: '>= 1.5',
    }
    const none = ['no default', 'not deprecated', 'no such validation', 'any version']
    for (const { changes } of [compare(before, after), compare(after, before)]) {
      const texts = changes.map((change) => [change.before, change.after])
      expect(texts.filter((pair) => pair.includes(undefined))).toEqual([])
      expect(texts.flat()).toEqual(expect.arrayContaining(none))
    }
    const { changes } = compare(before, { ...before, providers: [aws()] })
    expect(changes).toMatchObject([{ before: 'aws', after: 'hashicorp/aws ~> 5.0' }])
  })

  it('recognises the moved block of an instance with any key', () => {
    const from = String.raw`module.m["a[0].\"]"].aws_vpc.this[0]`
    const { changes } = compare(
      { modules: [{ name: 'm', source: './m' }] },
      { refactorings: [{ from: String.raw`module.m["a[0].\"]"]` }, { from }] },
    )
    expect(changes.map(({ name: of, verdict }) => [of, verdict])).toEqual([
      ['module.m', 'compatible'],
    ])
  })

  it('compares submodules by their path', () => {
    const folder = (path: string, rest: Partial<FolderDocs> = {}) => ({
      ...emptyRoot,
      path,
      ...rest,
    })
    const { changes } = compareModules(
      moduleOf({}, { submodules: [folder('modules/a'), folder('modules/b')] }),
      moduleOf(
        {},
        { submodules: [folder('modules/b', { inputs: [input('x')] }), folder('modules/c')] },
      ),
      versions,
    )
    expect(changes.map(({ kind, path, verdict }) => [kind, path, verdict])).toEqual([
      ['submodule', 'modules/a', 'breaking'],
      ['input', 'modules/b', 'breaking'],
      ['submodule', 'modules/c', 'compatible'],
    ])
  })

  it('lists providers and module calls that changed, and whether the README did', () => {
    const { dependencies, readme } = compare(
      { providers: [aws()], readme: 'a' },
      {
        providers: [aws({ version: '~> 5.1' })],
        modules: [{ name: 'm', source: './m' }],
        readme: 'b',
      },
    )
    expect(readme).toBe('changed')
    expect(dependencies).toEqual([
      {
        kind: 'provider',
        name: 'aws',
        before: 'hashicorp/aws ~> 5.0',
        after: 'hashicorp/aws ~> 5.1',
      },
      { kind: 'module', name: 'm', after: './m' },
    ])
  })
})

const name = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'constructor')
const inputs = fc.uniqueArray(
  fc.record({
    name,
    type: fc.constantFrom('string', 'number', 'list(string)', 'object({ x = string })'),
    required: fc.constant(true),
    sensitive: fc.boolean(),
    nullable: fc.boolean(),
    ephemeral: fc.boolean(),
    validations: fc.array(fc.record({ message: fc.constantFrom('x', 'y') }), { maxLength: 2 }),
  }),
  { selector: (each) => each.name },
)
const outputs = fc.uniqueArray(
  fc.record({ name, sensitive: fc.boolean(), ephemeral: fc.boolean() }),
  { selector: (each) => each.name },
)
const resources = fc.uniqueArray(
  fc.record({ mode: fc.constantFrom('managed' as const, 'data' as const), type: name, name }),
  { selector: (each) => `${each.mode} ${each.type} ${each.name}` },
)
const anyModule = fc.record({ inputs, outputs, resources }).map((root) => moduleOf(root))

it('a version compared with itself has no change', () => {
  fc.assert(
    fc.property(anyModule, (docs) => {
      const { changes, verdict } = compareModules(docs, structuredClone(docs), versions)
      expect([verdict, changes]).toEqual(['compatible', []])
    }),
  )
})

it('names the only item that differs', () => {
  fc.assert(
    fc.property(
      anyModule,
      fc.constantFrom('inputs', 'outputs', 'resources'),
      fc.nat(),
      (docs, list, at) => {
        const all = docs.root[list]
        fc.pre(all.length > 0)
        const gone = all[at % all.length]
        const after = moduleOf({ ...docs.root, [list]: all.filter((each) => each !== gone) })
        const { changes } = compareModules(docs, after, versions)
        expect(changes).toHaveLength(1)
        expect(changes[0]?.name.split('.').at(-1)).toBe(gone?.name)
        expect(changes[0]).toHaveProperty('before')
        expect(changes[0]).not.toHaveProperty('after')
      },
    ),
  )
})

const inputMutations: readonly ((each: InputDocs) => Partial<InputDocs>)[] = [
  () => ({ type: 'bool' }),
  () => ({ required: false, default: 'x' }),
  ({ nullable }) => ({ nullable: !nullable }),
  ({ sensitive }) => ({ sensitive: !sensitive }),
  ({ ephemeral }) => ({ ephemeral: !ephemeral }),
  ({ validations }) => ({ validations: [...validations, { message: 'new' }] }),
  () => ({ deprecated: 'use another one' }),
]

it('reports only the aspect of an input that differs', () => {
  fc.assert(
    fc.property(
      anyModule,
      fc.nat(),
      fc.constantFrom(...inputMutations),
      ({ root, ...rest }, at, mutate) => {
        fc.pre(root.inputs.length > 0)
        const place = at % root.inputs.length
        const changed = root.inputs.map((each, index) =>
          index === place ? { ...each, ...mutate(each) } : each,
        )
        const { changes } = compareModules(
          { root, ...rest },
          { root: { ...root, inputs: changed }, ...rest },
          versions,
        )
        expect(changes.map((change) => change.name)).toEqual([root.inputs[place]?.name])
        expect(changes[0]).toMatchObject({
          kind: 'input',
          before: expect.any(String),
          after: expect.any(String),
        })
      },
    ),
  )
})
