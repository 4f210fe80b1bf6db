import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-docs-'))
afterAll(() => rmSync(dir, { recursive: true }))

const docs = (...args: readonly string[]) => runProgram(dir, ['docs', ...args])

const configuration = `variable "cidr" {
  type        = string
  description = "a | b \\u001b[31m <script>"
}
output "id" {
  value = var.cidr
}
`

it('refuses a folder without configuration', async () => {
  mkdirSync(join(dir, 'empty/examples/also'), { recursive: true })
  writeFileSync(join(dir, 'empty/README.md'), '# Not a module')
  expect(await docs('empty')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(
      'empty: it has no configuration: name the folder of a module',
    ) as string,
  })
})

it('escapes names of a module, so that they cannot forge lines', async () => {
  const twice = { variable: { 'a\n::error::no': { type: 'string' } } }
  mkdirSync(join(dir, 'forging'))
  writeFileSync(join(dir, 'forging', 'main.tf.json'), JSON.stringify([twice, twice]))
  const { stderr, status } = await docs('forging')
  expect(status).toBe(1)
  expect(stderr).toContain('a ::error::no')
  expect(stderr).not.toMatch(/^::/m)
})

it.each(['https://depot.example.com/team/vpc/aws', 'team/vpc/aws', 'depot.example.com/team/aws'])(
  'refuses %s and says how to write an address',
  async (path) => {
    expect(await docs(path)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('write a path, or HOST/NAMESPACE/NAME/SYSTEM') as string,
    })
  },
)

it('prints the same for a folder and its archive, without control characters', async () => {
  writeFileSync(join(dir, 'main.tf'), configuration)
  writeFileSync(
    join(dir, 'vpc.zip'),
    await zipOf([{ path: 'vpc/main.tf', content: Buffer.from(configuration) }]),
  )
  const { stdout, status } = await docs('.')
  expect(status).toBe(0)
  expect(stdout).toContain(
    '| <a name="input_cidr"></a> [cidr](#input\\_cidr) | a \\| b \ufffd\\[31m &lt;script> | `string` | n/a | yes |',
  )
  expect((await docs('vpc.zip')).stdout).toBe(stdout)
  const json = (await docs('vpc.zip', '-o', 'json')).stdout
  expect(json).not.toContain('\u001b')
  expect(JSON.parse(json)).toMatchObject({
    schema: 1,
    root: { inputs: [{ name: 'cidr', description: 'a | b \u001b[31m <script>' }] },
    submodules: [],
    examples: [],
  })
})

it('replaces the text between the markers of a README', async () => {
  const readme = join(dir, 'README.md')
  writeFileSync(readme, '# VPC\n<!-- BEGIN_TF_DOCS -->\nold\n<!-- END_TF_DOCS -->\nend\n')
  expect((await docs('.', '--inject', 'README.md')).status).toBe(0)
  const text = readFileSync(readme, 'utf8')
  expect(text).toMatch(
    /^# VPC\n<!-- BEGIN_TF_DOCS -->\n## Requirements\n[^]*<!-- END_TF_DOCS -->\nend\n$/,
  )
  expect(text).not.toContain('old')
  writeFileSync(readme, '# VPC\n')
  const refused = await docs('.', '--inject', 'README.md')
  expect(refused.status).toBe(2)
  expect(refused.stderr).toContain('add <!-- BEGIN_TF_DOCS --> and <!-- END_TF_DOCS -->')
})

it('gives the same result when it runs again, even if a description contains a marker, and keeps code', async () => {
  const end = '<!-- END_TF_DOCS -->'
  const folder = join(dir, 'markers')
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'main.tf'),
    `variable "a" {\n  default = "${end}"\n  description = "\`a|b_c\`, \`${end}\`, \`open ${end} *x*"\n}\n`,
  )
  const readme = join(folder, 'README.md')
  writeFileSync(readme, `<!-- BEGIN_TF_DOCS -->\n${end}\ntail\n`)
  expect((await docs('markers', '--inject', 'README.md')).status).toBe(0)
  const once = readFileSync(readme, 'utf8')
  expect(once.split(end)).toHaveLength(2)
  const open = String.raw`\`open &lt;!-- END\_TF\_DOCS --> \*x\*`
  const marker = String.raw`\`&lt;!-- END\_TF\_DOCS -->\``
  expect(once).toContain(`| \`a\\|b_c\`, ${marker}, ${open} |`)
  expect((await docs('markers', '--inject', 'README.md')).status).toBe(0)
  expect(readFileSync(readme, 'utf8')).toBe(once)
})

it('looks for the README in the folder of the module, unless its path is absolute', async () => {
  const markers = '<!-- BEGIN_TF_DOCS -->\n<!-- END_TF_DOCS -->\n'
  const below = join(dir, 'vpc/README.md')
  const beside = join(dir, 'README.md')
  mkdirSync(join(dir, 'vpc'))
  writeFileSync(join(dir, 'vpc/main.tf'), configuration)
  for (const file of [below, beside]) writeFileSync(file, markers)
  expect((await docs('vpc', '--inject', 'README.md')).status).toBe(0)
  expect(readFileSync(below, 'utf8')).toContain('input_cidr')
  expect(readFileSync(beside, 'utf8')).toBe(markers)
  expect((await docs('vpc', '--inject', beside)).status).toBe(0)
  expect(readFileSync(beside, 'utf8')).toContain('input_cidr')
  writeFileSync(beside, markers)
  expect((await docs('vpc.zip', '--inject', 'README.md')).status).toBe(0)
  expect(readFileSync(beside, 'utf8')).toContain('input_cidr')
  const refused = await docs('vpc', '--inject', 'vpc/README.md')
  expect(refused.status).toBe(2)
  expect(refused.stderr).toContain("'vpc/vpc/README.md': name a file that exists")
})

it('exits with 1 and names file and line if a file cannot be parsed', async () => {
  writeFileSync(join(dir, 'broken.tf'), 'variable "x" {\n  type =\n}\n')
  const { status, stderr, stdout } = await docs('.')
  expect(status).toBe(1)
  expect(stderr).toContain('broken.tf:2: Invalid expression')
  expect(stdout).toContain('> Incomplete: broken.tf:2: Invalid expression')
  rmSync(join(dir, 'broken.tf'))
  const hostile = join(dir, '\u001b[31m.tf')
  writeFileSync(hostile, 'variable')
  expect((await docs('.')).stderr).toContain('depot: \\u001b[31m.tf:1: ')
  expect((await docs('.')).stdout).not.toContain('\u001b')
  rmSync(hostile)
})

it.each([
  ['nowhere', '"nowhere" is neither a folder or archive nor the address of a module'],
  ['README.md', 'this is not an archive'],
])('exits with 2 if %s cannot be read', async (path, message) => {
  const { status, stderr } = await docs(path)
  expect(status).toBe(2)
  expect(stderr).toContain(message)
})
