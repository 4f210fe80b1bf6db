import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-compare-'))
afterAll(() => rmSync(dir, { recursive: true }))

function folder(name: string, text: string): string {
  mkdirSync(join(dir, name), { recursive: true })
  writeFileSync(join(dir, name, 'main.tf'), text)
  return name
}

const compare = (...args: readonly string[]) => runProgram(dir, ['compare', ...args])

const first = folder('first', 'variable "cidr" {\n  type = string\n}\n')
const wider = folder(
  'wider',
  'variable "cidr" {\n  type = any\n}\nvariable "x" {\n  default = 1\n}\n',
)
const narrower = folder('narrower', 'variable "cidr" {\n  type = number\n}\n')
const checked = folder(
  'checked',
  'variable "cidr" {\n  type = string\n  validation {\n    condition = true\n    error_message = "\\u001b[31m|no|"\n  }\n}\n',
)

it('exits with 0 if the later version does not break callers', async () => {
  expect(await compare(first, first)).toMatchObject({
    status: 0,
    stdout: 'No change of the interface from first to first.\n',
  })
  const { status, stdout } = await compare(first, wider)
  expect(status).toBe(0)
  expect(stdout).toBe(
    'Compatible:\n  input cidr: The type changed: every value that was accepted still is. (string -> any)\n  input x: The new input has a default.\n',
  )
})

it('exits with 1 for a breaking change, and with 2 if that cannot be decided', async () => {
  const { status, stdout } = await compare(first, narrower, '-o', 'markdown')
  expect(status).toBe(1)
  expect(stdout).toBe(
    '### first to narrower: breaking\n\n**Breaking**\n\n| | |\n| --- | --- |\n| input cidr | The type changed: it was string, and is number now. |\n',
  )
  const unknown = await compare(first, checked, '-o', 'json')
  expect(unknown.status).toBe(2)
  expect(unknown.stdout).not.toContain('\u001b')
  expect(JSON.parse(unknown.stdout)).toMatchObject({
    verdict: 'unknown',
    changes: [{ kind: 'input', name: 'cidr', after: '\u001b[31m|no|', verdict: 'unknown' }],
  })
})

it('escapes names of a module, so that they cannot forge lines', async () => {
  const forged = 'a\n::error::no\nCompatible:\n  input b: fine'
  const aliases = ['aws.a\n::error::no']
  mkdirSync(join(dir, 'forging'))
  writeFileSync(
    join(dir, 'forging', 'main.tf.json'),
    JSON.stringify({
      variable: { [forged]: { type: 'string' } },
      terraform: { required_providers: { aws: { configuration_aliases: aliases } } },
    }),
  )
  const { stdout } = await compare(first, 'forging')
  expect(stdout).toContain('  input a ::error::no Compatible: input b: fine: ')
  expect(stdout).not.toMatch(/^(?:::|Compatible)/m)
})

it('says what is missing if a version does not exist or cannot be read', async () => {
  expect(await compare(first)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('write two folders'),
  })
  const stderr: unknown = expect.stringContaining('"nowhere" is neither a folder or archive nor')
  expect(await compare(first, 'nowhere')).toMatchObject({ status: 2, stderr })
  expect((await compare('localhost:1/team/vpc/aws', '1.4.0')).stderr).toContain(
    '1.4.0 is a version without address: write localhost:1/team/vpc/aws FROM 1.4.0',
  )
})
