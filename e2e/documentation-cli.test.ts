import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import * as z from 'zod'
import { bareEnvironment } from '../hack/testbed/environment.ts'
import { openModuleDocs } from '../pkg/archives/docs/docs.ts'

/*
 * Compares with the CLIs what terraform-config-inspect does not report: places of mistakes, and providers after override
 * files.
 */

const dir = mkdtempSync(join(tmpdir(), 'depot-docs-cli-'))
afterAll(() => rmSync(dir, { recursive: true }))

let folders = 0
function moduleOf(files: Readonly<Record<string, string>>): string {
  const folder = join(dir, String(++folders))
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const Validation = z.object({
  diagnostics: z.array(
    z.object({
      summary: z.string(),
      detail: z.string(),
      range: z.object({ filename: z.string(), start: z.object({ line: z.int() }) }),
    }),
  ),
})

describe.for(['terraform', 'tofu'] as const)('%s', (name) => {
  const cli = inject(name)
  const run = (folder: string, ...args: readonly string[]): string =>
    spawnSync(cli ?? '', args, { cwd: folder, encoding: 'utf8', env: bareEnvironment }).stdout

  it.runIf(cli).for<readonly [file: string, text: string]>([
    ['main.tf', 'variable "x" {\n  type =\n}\n'],
    ['inputs.tf', '\r\nvariable\r\n'],
    ['outputs.tf', '# é\noutput "a" { value = \n'],
    ['main_override.tf', 'variable "x" {\n\n  default = "a\n}\n'],
    ['main.tf', 'variable "a" {\n  default = 1\n  default = 2\n}\n'],
    ['main.tf', '\ufefflocals {\n  a = [1, 2\n}\n'],
    ['main.tf', 'locals {\n  a = <<-EOT\n    text\n'],
    ['main.tf', '\n\n/* open\n'],
  ])('finds the mistake in %s at the same place, with the same words: %j', async ([file, text]) => {
    const folder = moduleOf({ 'a.tf': 'variable "other" {}\n', [file]: text })
    const { diagnostics } = Validation.parse(JSON.parse(run(folder, 'validate', '-json')))
    const [first] = diagnostics
    const { error } = (await openModuleDocs(folder)).root
    expect(error).toMatchObject({
      file: first?.range.filename,
      line: first?.range.start.line,
      message: expect.stringContaining(`${first?.summary}: `),
    })
  })

  it.runIf(cli)('requires the same providers, with override files and in JSON', async () => {
    const required = (providers: object) =>
      JSON.stringify({ terraform: { required_providers: providers } })
    const folder = moduleOf({
      'main.tf': `terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 4.0"
    }
    random = {
      source  = "hashicorp/random"
      version = "~> 3.1"
    }
    dns = {
      source  = "acme/dns"
      version = "1.0.0"
    }
  }
}
`,
      'main_override.tf': `terraform {
  required_providers {
    aws = {
      source  = "acme/aws"
      version = "5.1.0"
    }
  }
}
`,
      'override.tf.json': required({ random: { source: 'acme/random' } }),
    })
    const theirs = [...run(folder, 'providers').matchAll(/provider\[[^/\]]+\/(.+?)\] ?(.*)/g)].map(
      ([, source, version]) => `${source} ${version}`.trim(),
    )
    const { providers } = (await openModuleDocs(folder)).root
    const ours = providers.map(({ source, version = '' }) => `${source} ${version}`.trim())
    expect(ours.toSorted()).toEqual(theirs.toSorted())
    expect(ours).toHaveLength(3)
  })
})
