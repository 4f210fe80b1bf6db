import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePorts } from '../../hack/testbed/ports.ts'
import { toolPath } from '../../hack/testbed/tools.ts'
import { kind, kubectl, must, type Outcome, run, until } from './cluster.fixture.ts'
import { inlineCommands, shellBlocks } from './documentation.fixture.ts'
import { deleteRecords, get, makeNamespace, uninstall } from './release.fixture.ts'

/* The first page of docs/install.md and the commands of docs/runbooks.md, typed as they are printed. */

const repository = join(import.meta.dirname, '../..')
const dir = mkdtempSync(join(tmpdir(), 'depot-e2e-documentation-'))
const kubeconfig = join(dir, 'kubeconfig')
let notes = ''

/** Runs lines in a shell whose current context is the cluster, with the programs that a reader has. */
function type(script: string, timeoutMs?: number): Promise<Outcome> {
  const environment = [
    `KUBECONFIG=${kubeconfig}`,
    `PATH=${dir}:${process.env['PATH']}`,
    // The suite's cluster has another name than the one that the page makes.
    `KIND_CLUSTER_NAME=${kind.node.replace(/-control-plane$/, '')}`,
    `BASES=${kind.image.settings['BASES']}`,
  ]
  const shell = ['bash', '-euo', 'pipefail', '-c', `cd '${repository}'\n${script}`]
  return run('env', [...environment, ...shell], '', timeoutMs)
}

/** The images of others are in the node under tags of the suite; a reader's node pulls them. */
async function nameAsInChart(): Promise<void> {
  const ctr = ['exec', kind.node, 'ctr', '--namespace', 'k8s.io', 'images', 'tag', '--force']
  const rendered = await must(kind.tools.helm, ['template', 'depot', 'config/chart'])
  const [, name = '', digest = ''] = /"(\S+valkey):\S+(@sha256:\w+)"/.exec(rendered) ?? []
  await must('docker', [...ctr, 'docker.io/valkey/valkey:e2e', `${name}${digest}`])
}

beforeAll(async () => {
  copyFileSync(kind.kubeconfig, kubeconfig)
  for (const tool of ['kind', 'helm'] as const) symlinkSync(toolPath(tool), join(dir, tool))
  await makeNamespace()
  await deleteRecords()
  await uninstall()
  await kubectl('delete', 'namespace', 'depot-system', 'platform', '--ignore-not-found')
  await nameAsInChart()
})
afterAll(async () => {
  await deleteRecords()
  await uninstall()
  rmSync(dir, { recursive: true, force: true })
})

it('the five minutes on kind end with a registry that passes its test', async () => {
  const [first = ''] = shellBlocks('install.md', 'Five minutes on kind')
  const lines = first.split('\n').filter((line) => line !== 'kind create cluster')
  expect(lines).toHaveLength(first.split('\n').length - 1)
  const { code, stdout, stderr } = await type(lines.join('\n'), 280_000)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(stdout).toContain('Phase:          Succeeded')
  notes = stdout
}, 300_000)

it('the commands at the end of the notes work', async () => {
  const [, commands = ''] = notes.split('Does it work?\n')
  const typed = commands.split('\n').filter((line) => line.startsWith('  '))
  expect(typed).toHaveLength(3)
  const forward = /^ {2}(kubectl .*port-forward.*)$/m.exec(notes)?.[1] ?? ''
  const [port = 0] = await freePorts(1)
  // Another program of this machine may have 8080.
  const own = (line: string): string => line.replaceAll('8080', String(port))
  const forwarding = spawn('env', [`KUBECONFIG=${kubeconfig}`, ...own(forward).split(/\s+/)])
  try {
    await until(
      () => get(`http://localhost:${port}/.well-known/terraform.json`),
      ({ status }) => status === 200,
    )
    for (const line of typed) expect(await type(own(line))).toMatchObject({ code: 0 })
  } finally {
    forwarding.kill()
  }
})

it('the first Depot of the page is taken', async () => {
  const [, second = ''] = shellBlocks('install.md', 'Five minutes on kind')
  // What follows asks GitHub, which nothing here reaches.
  const [create = '', applied = ''] = second.split('\n')
  expect(await type(`${create}\n${applied}`)).toMatchObject({ code: 0 })
})

it('every command of the runbooks can be typed', async () => {
  const [start = '', ...blocks] = shellBlocks('runbooks.md')
  expect(
    await type(`${start}\n[ "$(metrics | grep -c depot_catalog_synced)" -gt 3 ]`),
  ).toMatchObject({
    code: 0,
  })
  // What the cluster of the suite does not have: cert-manager, a metrics server, `df` in its image of Valkey.
  const elsewhere = /certificate|kubectl top|kubectl patch pvc$| df |secret NAME/
  const inline = inlineCommands('runbooks.md', ['kubectl', 'logs', 'metrics'])
  const commands = [...blocks.flatMap((block) => block.trim().split('\n')), ...inline]
    .filter((command) => !elsewhere.test(command))
    .map((command) => command.replaceAll('groupbinding NAME', 'groupbindings'))
  expect(commands.length).toBeGreaterThan(25)
  const failed: object[] = []
  for (const command of new Set(commands)) {
    // A grep that finds nothing is a good answer, and no container was here before this one.
    const { code, stderr } = await type(`set +e +o pipefail\n${start}\n${command}`)
    const said = stderr.replace(/^.*previous terminated container.*$/gm, '').trim()
    if (said !== '' || code > 1) failed.push({ command, code, said })
  }
  expect(failed).toEqual([])
})
