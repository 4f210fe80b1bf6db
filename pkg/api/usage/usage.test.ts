import { expect, it } from 'vitest'
import {
  addressOf,
  argumentsBlock,
  labelFor,
  labelOf,
  lockCommand,
  outputsBlock,
  usageBlock,
  valueText,
} from './usage.ts'

const registryHost = 'depot.example.com:8443'
const module = { registryHost, namespace: 'network', kind: 'module', name: 'vpc', provider: 'aws' }
const provider = { registryHost, namespace: 'hashicorp', kind: 'provider', name: 'aws' }

it('writes the block of a provider', () => {
  expect(usageBlock(provider, 'terraform', '6.21.0')).toBe(`terraform {
  required_providers {
    aws = {
      source  = "depot.example.com:8443/hashicorp/aws"
      version = "6.21.0"
    }
  }
}`)
})

it('writes the block of a module', () => {
  expect(usageBlock(module, 'tofu', '6.5.1')).toBe(`module "vpc" {
  source  = "depot.example.com:8443/network/vpc/aws"
  version = "6.5.1"
}`)
})

it('leaves the version out if none can be pinned', () => {
  expect(usageBlock(module, 'terraform', undefined)).not.toContain('version')
  expect(usageBlock(provider, 'terraform', undefined)).not.toContain('version')
  expect(usageBlock(module, 'terragrunt', undefined)).toContain('/vpc/aws"')
})

it('writes the source of terragrunt', () => {
  expect(usageBlock(module, 'terragrunt', '1.0.0+a')).toBe(`terraform {
  source = "tfr://depot.example.com:8443/network/vpc/aws?version=1.0.0%2Ba"
}`)
})

it.each([
  ['string', 'string'],
  ['list ( string )', 'list(string)'],
  ['object({ a = string, b = optional(number, 1) })', 'object({\n  a = string\n})'],
  ['object({ a = optional(object({ x = map(any) }), { x = { y = ")" } }) })', 'object({})'],
  [
    'map(object({ long = string # why\n a = optional(list(string), []) /* b */ }))',
    'map(object({\n  long = string\n}))',
  ],
  [
    'object({ a = object({ b = object({ c = string }), d = bool }) })',
    'object({\n  a = object({\n    b = object({ … })\n    d = bool\n  })\n})',
  ],
  ['tuple([string, object({ x = any })])', 'tuple([string, object({\n  x = any\n})])'],
  // What is not a type stays as it is written.
  ['object({ a = ', 'object({ a ='],
  ['object({ a = string }) }', 'object({ a = string }) }'],
  ['optional(string', 'optional(string'],
  ['object({ a = optional(string })', 'object({ a = optional(string })'],
  [`${'list('.repeat(40)}string${')'.repeat(40)}`, `${'list('.repeat(40)}string${')'.repeat(40)}`],
])('leaves out of %j what callers may leave out', (type, text) => {
  const block = usageBlock(module, 'terraform', undefined, [{ name: 'it', type }])
  const comments = block.split('\n').filter((line) => line.startsWith('  #'))
  expect(
    comments
      .slice(1)
      .map((line) => line.slice(4))
      .join('\n'),
  ).toBe(`it = ${text}`)
})

it('reads hostile types in short time', () => {
  const parts = ['object({a=', '"', String.raw`\"`, '/*', 'optional(', '# ', '[', 'a=']
  for (const part of parts) {
    const type = part.repeat(8_000 / part.length)
    const inputs = Array.from({ length: 20 }, () => ({ name: 'it', type }))
    const startMs = performance.now()
    usageBlock(module, 'terraform', undefined, inputs)
    expect(performance.now() - startMs).toBeLessThan(1000)
  }
})

it('names a hundred inputs at most, aligns no long names, and writes out no long type', () => {
  const names = Array.from({ length: 60_000 }, (_, at) => `a${at}`)
  const long = 'x'.repeat(100_000)
  const inputs = ['b', long, ...names].map((name) => ({ name, type: 'string' }))
  const block = usageBlock(module, 'terraform', '1.0.0', [
    { name: 'huge', type: `object({ ${long} = string })` },
    ...inputs,
  ])
  const lines = block.split('\n')
  expect(lines.slice(4, 7)).toEqual(['  # Required', '  # huge = …', '  # b    = string'])
  expect(lines.at(-2)).toBe('  # and 59,903 more')
  expect(lines).toHaveLength(107)
})

it('names required inputs with their types, as comments', () => {
  const required = [
    { name: 'name', type: 'string' },
    { name: 'subnets', type: 'map(object({\n    cidr = string\n\n  }))' },
    { name: 'tags' },
  ]
  expect(usageBlock(module, 'terraform', '6.5.1', required)).toBe(`module "vpc" {
  source  = "depot.example.com:8443/network/vpc/aws"
  version = "6.5.1"

  # Required
  # name    = string
  # subnets = map(object({
  #   cidr = string
  # }))
  # tags    = any
}`)
  expect(usageBlock(module, 'terragrunt', undefined, required.slice(0, 1))).toBe(`terraform {
  source = "tfr://depot.example.com:8443/network/vpc/aws"
}

inputs = {
  # name = string
}`)
})

it('lets no type end its comment, and hides nothing in one', () => {
  const type = 'string\r\n} # a\rb\nc\u2028d\u202e\u001b[31m\u0085e'
  const block = usageBlock(module, 'terraform', undefined, [{ name: 'a', type }])
  expect(block.split('\n  # Required\n')[1]).toBe(
    '  # a = string\n  # } # a\n  # b\n  # cd[31me\n}',
  )
})

it('uses the address if it differs from the name of the object', () => {
  expect(addressOf({ ...module, name: 'vpc-aws', address: 'vpc/aws' })).toBe('network/vpc/aws')
  expect(usageBlock({ ...module, name: 'x', address: 'vpc/aws' }, 'terraform', '1.0.0')).toContain(
    'module "vpc"',
  )
  expect(addressOf({ ...provider, name: 'mirror', address: 'aws' })).toBe('hashicorp/aws')
})

it.each([
  ['terraform', 'source  = "depot.example.com:8443/network/vpc/aws//modules/peering"'],
  ['terragrunt', '"tfr://depot.example.com:8443/network/vpc/aws//modules/peering?version=1.0.0"'],
] as const)('uses a submodule with %s', (tool, source) => {
  const used = { ...module, folder: 'modules/peering' }
  expect(usageBlock(used, tool, '1.0.0')).toContain(source)
  expect(labelFor(used)).toBe('peering')
})

it('writes generic for a module without a system', () => {
  expect(addressOf({ ...module, provider: undefined })).toBe('network/vpc/generic')
})

it.each([
  ['vpc', 'vpc'],
  ['my.module', 'my_module'],
  ['3tier', '_3tier'],
  ['-a', '_-a'],
  ['a"b{c', 'a_b_c'],
  ['', '_'],
])('makes the label of %j %j', (name, label) => expect(labelOf(name)).toBe(label))

it('keeps templates and quotes inside the string', () => {
  const hostile = { ...module, name: 'a', provider: '"}\n${file("/etc/passwd")}%{if' }
  expect(usageBlock(hostile, 'terraform', undefined)).toBe(`module "a" {
  source  = "depot.example.com:8443/network/a/\\"}\\n$\${file(\\"/etc/passwd\\")}%%{if"
}`)
})

it('locks every platform', () => {
  expect(lockCommand('tofu', ['darwin/arm64', 'linux/amd64'])).toBe(
    'tofu providers lock \\\n  -platform=darwin_arm64 \\\n  -platform=linux_amd64',
  )
})

it('writes arguments with placeholders that have the type of each input', () => {
  const types = {
    cidr: 'string',
    count_of: 'number',
    enabled: 'bool',
    zones: 'set(string)',
    tags: 'map(string)',
    subnets: 'map(object({\n    cidr = string\n  }))',
    anything: undefined,
    'x" = 1': 'string\u2028\n# y = 2',
  }
  const inputs = Object.entries(types).map(([name, type]) => ({ name, type, required: true }))
  expect(argumentsBlock(inputs)).toBe(
    `# string
cidr = ""

# number
count_of = 0

# bool
enabled = false

# set(string)
zones = []

# map(string)
tags = {}

# map(object({
#   cidr = string
# }))
subnets = {}

# any
anything = null

# string
# # y = 2
x____1 = ""
`,
  )
})

it('writes the defaults of optional inputs', () => {
  const inputs = [
    { name: 'cidr', type: 'string', required: true },
    { name: 'zones', type: 'list(string)', required: false, default: ['a', 'b'] },
    { name: 'tags', required: false },
  ]
  expect(argumentsBlock(inputs)).toBe(`# string
cidr = ""

# list(string)
zones = ["a", "b"]

# any
tags = null
`)
})

it.each([
  [null, 'null'],
  ['a "b"', '"a \\"b\\""'],
  [[], '[]'],
  [{}, '{}'],
  [['a', 1, true], '["a", 1, true]'],
  [{ team: 'net', 'a b': { x: [] } }, '{\n  team = "net"\n  "a b" = {\n    x = []\n  }\n}'],
  [{ for: 1, null: 2, ünïcode: 3 }, '{\n  "for" = 1\n  "null" = 2\n  ünïcode = 3\n}'],
  [JSON.parse('{"__proto__":1}'), '{\n  __proto__ = 1\n}'],
  [[{ a: 1 }], '[\n  {\n    a = 1\n  },\n]'],
  [Array(10).fill('word'), `[\n${'  "word",\n'.repeat(10)}]`],
  ['{\n  "a": 1\n}\n', '<<EOT\n{\n  "a": 1\n}\nEOT'],
  ['a\nb', '"a\\nb"'],
  ['a\nEOT\n', '"a\\nEOT\\n"'],
  ['${a} %{ if }\n', '<<EOT\n$${a} %%{ if }\nEOT'],
  ['${file("x")} \\', '"$${file(\\"x\\")} \\\\"'],
  ['a\u001b[31m\u202eb\r\n\t\u{e0041}\ud800', '"a\\u001b[31m\\u202eb\\r\\n\\t\\U000e0041\ufffd"'],
])('writes the value %j as people do', (value, text) => {
  expect(valueText(value)).toBe(text)
})

it.each(['\n', ' \n', '\r', '\u2028', ' ', 'EOT'])('writes many %j in short time', (part) => {
  const text = `${part.repeat(200_000)}\n`
  const began = process.threadCpuUsage()
  valueText(text)
  const { user, system } = process.threadCpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(400)
})

it('passes on the outputs of a module', () => {
  const outputs = [
    { name: 'id', sensitive: false, ephemeral: false },
    { name: 'key', sensitive: true, ephemeral: true },
  ]
  expect(outputsBlock('vpc', outputs)).toBe(`output "id" {
  value = module.vpc.id
}

output "key" {
  value     = module.vpc.key
  sensitive = true
  ephemeral = true
}
`)
})
