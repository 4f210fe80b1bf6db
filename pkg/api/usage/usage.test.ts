import { expect, it } from 'vitest'
import { addressOf, argumentsBlock, labelFor, labelOf, lockCommand, usageBlock } from './usage.ts'

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

it('reads a hostile type in short time', () => {
  for (const part of ['object({a=', '"', '/*', 'optional(', '# ', '[', 'a=']) {
    const startMs = performance.now()
    usageBlock(module, 'terraform', undefined, [{ name: 'it', type: part.repeat(10_000) }])
    expect(performance.now() - startMs).toBeLessThan(1000)
  }
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
  const inputs = Object.entries(types).map(([name, type]) => ({ name, type }))
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
