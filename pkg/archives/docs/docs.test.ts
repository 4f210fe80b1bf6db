import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readModuleDocs } from './read-docs.ts'

/** The documentation of files that are given by path and text. */
const docsOf = (files: Readonly<Record<string, string>>) =>
  readModuleDocs(
    Object.entries(files).map(([path, text]) => ({
      path,
      sizeBytes: Buffer.byteLength(text),
      text,
    })),
    async function* ({ text, sizeBytes }) {
      yield Buffer.from(text).subarray(0, sizeBytes)
    },
  )

const rootOf = async (text: string) => (await docsOf({ 'main.tf': text })).root

describe('the documentation of a module', () => {
  it('has inputs in the order of the text, with all of their attributes', async () => {
    const { inputs } = await rootOf(`
      variable "zones" {
        type        = map(object({ az = string, size = optional(number, 3) }))
        description = <<-EOT
          Zones by name.
            Indented.
        EOT
        nullable    = false
        validation {
          condition     = length(var.zones) > 0
          error_message = "At least one zone."
        }
      }
      variable "any" {}
      variable "cidr" {
        type      = string
        default   = "10.0.0.0/16"
        sensitive = true
      }
      variable "nothing" {
        default    = null
        ephemeral  = true
        deprecated = "use any"
      }`)
    const plain = { sensitive: false, nullable: true, ephemeral: false, validations: [] }
    expect(inputs).toEqual([
      {
        ...plain,
        name: 'zones',
        type: 'map(object({ az = string, size = optional(number, 3) }))',
        description: 'Zones by name.\n  Indented.\n',
        required: true,
        nullable: false,
        validations: [{ message: 'At least one zone.' }],
      },
      { ...plain, name: 'any', required: true },
      {
        ...plain,
        name: 'cidr',
        type: 'string',
        default: '10.0.0.0/16',
        required: false,
        sensitive: true,
      },
      {
        ...plain,
        name: 'nothing',
        default: null,
        required: false,
        ephemeral: true,
        deprecated: 'use any',
      },
    ])
  })

  it('has outputs, providers, resources, module calls and refactorings', async () => {
    const root = await rootOf(`
      terraform {
        required_version = ">= 1.3"
        required_providers {
          aws = {
            source                = "hashicorp/aws"
            version               = "~> 5.0"
            configuration_aliases = [aws.east, aws.west]
          }
          random = "~> 3.0"
        }
      }
      provider "random" {
        version = "3.1"
      }
      output "id" {
        value     = 1
        sensitive = true
        description = "The id, such as $\${x}."
      }
      resource "aws_vpc" "this" {}
      data "aws_ami" "this" {}
      ephemeral "random_password" "this" {}
      module "subnets" {
        source  = "./modules/subnets"
      }
      module "label" {
        source  = "cloudposse/label/null"
        version = "0.25.0"
      }
      moved {
        from = aws_vpc.main
        to   = aws_vpc.this
      }
      removed {
        from = aws_eip.old
      }`)
    expect(root).toEqual({
      path: '',
      requiredVersion: '>= 1.3',
      inputs: [],
      outputs: [
        { name: 'id', description: 'The id, such as ${x}.', sensitive: true, ephemeral: false },
      ],
      providers: [
        {
          name: 'aws',
          source: 'hashicorp/aws',
          version: '~> 5.0',
          aliases: ['aws.east', 'aws.west'],
        },
        { name: 'random', version: '~> 3.0, 3.1', aliases: [] },
      ],
      resources: [
        { mode: 'managed', type: 'aws_vpc', name: 'this' },
        { mode: 'data', type: 'aws_ami', name: 'this' },
        { mode: 'ephemeral', type: 'random_password', name: 'this' },
      ],
      modules: [
        { name: 'subnets', source: './modules/subnets' },
        { name: 'label', source: 'cloudposse/label/null', version: '0.25.0' },
      ],
      refactorings: [{ from: 'aws_vpc.main', to: 'aws_vpc.this' }, { from: 'aws_eip.old' }],
    })
  })

  it('reads JSON files, and orders files by name', async () => {
    const { root } = await docsOf({
      'b.tf': 'variable "b" {}\n',
      'a.tf.json': JSON.stringify({
        '//': 'a comment',
        variable: [{ z: { type: 'string', sensitive: 'true' } }, { y: [{ default: [1] }] }],
        resource: { aws_vpc: { main: {} } },
      }),
    })
    expect(root.inputs.map(({ name }) => name)).toEqual(['z', 'y', 'b'])
    expect(root.inputs).toMatchObject([{ type: 'string', sensitive: true }, { default: [1] }, {}])
    expect(root.resources).toEqual([{ mode: 'managed', type: 'aws_vpc', name: 'main' }])
  })

  it('reads escapes as the language of the file does', async () => {
    const { root } = await docsOf({
      'a.tf': `variable "native" {
        description = "100 %%{ $\${x}"
        default = { text = ["$\${x}"] }
      }`,
      'b.tf.json': JSON.stringify({
        variable: { json: { description: '100 %%{ $${x}', default: '$${x}' } },
      }),
    })
    expect(root.inputs).toMatchObject([
      { description: '100 %{ ${x}', default: { text: ['${x}'] } },
      { description: '100 %%{ $${x}', default: '$${x}' },
    ])
  })

  it('reads a .tofu file instead of the .tf file of that name', async () => {
    const { root } = await docsOf({
      'main.tf': 'variable "terraform" {}\n',
      'main.tofu': 'variable "tofu" {}\n',
      'other.tf': 'variable "other" {}\n',
    })
    expect(root.inputs.map(({ name }) => name)).toEqual(['tofu', 'other'])
  })

  it('merges override files as Terraform does', async () => {
    const { root } = await docsOf({
      'a_override.tf':
        'variable "x" {\n default = 2\n}\nterraform {\n required_version = ">= 2"\n}\n',
      'main.tf': `terraform {\n required_version = ">= 1"\n}\nvariable "x" {
        description = "kept"
        default = 1
        validation {
          condition = true
          error_message = "kept"
        }\n}\n`,
      'override.tf': 'variable "y" {}\n',
    })
    expect(root.requiredVersion).toBe('>= 2')
    expect(root.inputs).toMatchObject([
      { name: 'x', description: 'kept', default: 2, validations: [{ message: 'kept' }] },
    ])
    expect(root.error?.message).toBe(
      'an override file changes variable "y", which no file declares',
    )
  })

  it('documents each folder of modules and of examples', async () => {
    const docs = await docsOf({
      'main.tf': '',
      'README.md': '# VPC\n\n[![badge](x)](y)\n\nCreates a **VPC** with\n[subnets](./x).\n\nMore.',
      'modules/b/main.tf': 'variable "b" {}\n',
      'modules/b/README.md': 'About b.',
      'modules/a/main.tf': '',
      'modules/a/nested/main.tf': '',
      'modules/notes/README.md': 'no configuration',
      'examples/simple/main.tf': 'module "vpc" {\n source = "../.."\n}\n',
    })
    expect(docs.root.description).toBe('Creates a VPC with subnets.')
    expect(docs.submodules.map(({ path }) => path)).toEqual(['modules/a', 'modules/b'])
    expect(docs.submodules[1]).toMatchObject({ readme: 'About b.', inputs: [{ name: 'b' }] })
    expect(docs.examples).toMatchObject([
      { path: 'examples/simple', modules: [{ name: 'vpc', source: '../..' }] },
    ])
  })

  it('names file and line of a mistake, and keeps the content of other files', async () => {
    const { root } = await docsOf({
      'main.tf': 'variable "a" {}\n\nvariable "b" {\n  type =\n}\n',
      'other.tf': 'variable "c" {}\n',
    })
    expect(root.error).toEqual({
      file: 'main.tf',
      line: 4,
      message: expect.stringContaining('Invalid expression: Expected the start of an expression'),
    })
    expect(root.inputs.map(({ name }) => name)).toEqual(['c'])
    expect((await docsOf({ 'main.tf.json': '{' })).root.error).toMatchObject({
      file: 'main.tf.json',
    })
  })

  it('reports the first of several mistakes in one file', async () => {
    const { root } = await docsOf({
      'main.tf': 'variable "a" { type =\n}\nvariable "b" { type =\n}\n',
    })
    expect(root.error).toEqual({
      file: 'main.tf',
      line: 1,
      message: expect.stringMatching(/^Invalid expression: .* token$/),
    })
  })

  it.each([3000, 4000, 6000, 10_000, 200_000])('survives %d nested brackets', async (depth) => {
    const { root } = await docsOf({
      'hostile.tf': `variable "a" {\n default = ${'['.repeat(depth)}${']'.repeat(depth)}\n}\n`,
    })
    expect(root.error?.message).toBeDefined()
    const json = `{"variable": {"a": {"default": ${'['.repeat(depth)}${']'.repeat(depth)}}}}`
    expect((await docsOf({ 'hostile.tf.json': json })).root.error?.message).toBeDefined()
    expect((await rootOf('variable "a" {}\n')).inputs).toHaveLength(1)
  })

  it.each(['1e999', '-1e999', `[{ a = 1${'0'.repeat(400)} }]`])(
    'leaves out the number %s',
    async (number) => {
      const problem = { message: 'the default of variable "a" has a number that is too large' }
      const inputs = [{ name: 'a', required: false }]
      const native = await docsOf({ 'main.tf': `variable "a" {\n  default = ${number}\n}\n` })
      expect(native.root).toMatchObject({ inputs, error: problem })
      expect(native.root.inputs[0]).not.toHaveProperty('default')
      const value = number.replace('a =', '"a":')
      const json = await docsOf({ 'main.tf.json': `{"variable": {"a": {"default": ${value}}}}` })
      expect(json.root).toEqual(native.root)
    },
  )

  it('does not keep the process alive', { timeout: 20_000 }, async () => {
    const reader = JSON.stringify(join(import.meta.dirname, 'read-docs.ts'))
    const program = `import(${reader}).then(async ({ readModuleDocs }) => {
      const file = { path: 'main.tf', sizeBytes: 16, text: 'variable "a" {}\\n' }
      const { root } = await readModuleDocs([file], async function* () { yield Buffer.from(file.text) })
      console.log(root.inputs.length)
    })`
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', program])
    expect(stdout).toBe('1\n')
  })

  it('treats names that objects inherit like any others', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const { inputs, resources } = await rootOf(
      names.map((name) => `variable "${name}" {}\nresource "${name}" "${name}" {}\n`).join(''),
    )
    expect(inputs.map(({ name }) => name)).toEqual(names)
    expect(resources.map(({ type }) => type)).toEqual(names)
    const keys = names.map((name) => `"${name}" = { "${name}" = 1 }`).join(', ')
    const [input] = (await rootOf(`variable "it" {\n  default = { ${keys} }\n}\n`)).inputs
    const sorted = names.toSorted()
    const value = sorted.map((name) => `"${name}":{"${name}":1}`).join(',')
    expect(JSON.stringify(input?.default)).toBe(`{${value}}`)
  })
})
