import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePorts } from '../../hack/testbed/ports.ts'
import { toolPath } from '../../hack/testbed/tools.ts'
import { inlineCommands, shellBlocks } from '../documentation.fixture.ts'
import { kind, kubectl, must, type Outcome, run, until } from './cluster.fixture.ts'
import { deleteRecords, get, makeNamespace, uninstall } from './release.fixture.ts'

/* Runs the first page of docs/install.md and the commands of docs/runbooks.md exactly as printed. */

const repository = join(import.meta.dirname, '../..')
const dir = mkdtempSync(join(tmpdir(), 'depot-e2e-documentation-'))
const kubeconfig = join(dir, 'kubeconfig')
let notes = ''

/** Runs lines in a shell with the cluster as the current context and the programs that a reader has. */
function type(script: string, timeoutMs?: number): Promise<Outcome> {
  const environment = [
    `KUBECONFIG=${kubeconfig}`,
    `PATH=${dir}:${process.env['PATH']}`,
    // The page creates a cluster with another name than the suite's.
    `KIND_CLUSTER_NAME=${kind.node.replace(/-control-plane$/, '')}`,
    `BASES=${kind.image.settings['BASES']}`,
  ]
  // Its input is a socket, which Bash takes for a remote login.
  const shell = ['bash', '--norc', '-euo', 'pipefail', '-c', `cd '${repository}'\n${script}`]
  return run('env', [...environment, ...shell], '', timeoutMs)
}

/** Third-party images are in the node under tags of the suite. A reader's node pulls them. */
async function nameAsInChart(): Promise<void> {
  const ctr = ['exec', kind.node, 'ctr', '--namespace', 'k8s.io', 'images', 'tag', '--force']
  const rendered = await must(kind.tools.helm, ['template', 'depot', 'config/chart'])
  const [, name = '', digest = ''] = /"(\S+valkey):\S+(@sha256:\w+)"/.exec(rendered) ?? []
  await must('docker', [...ctr, 'docker.io/valkey/valkey:e2e', `${name}${digest}`])
}

/** Deletes the definitions. Otherwise, Helm would have conflicts with kubectl, which owns their fields. */
async function deleteDefinitions(): Promise<void> {
  const kinds = ['depots', 'groupbindings', 'modules', 'providers', 'versions']
  const names = kinds.map((one) => `${one}.depot.internal`)
  await kubectl('delete', 'crd', '--ignore-not-found', ...names)
}

beforeAll(async () => {
  copyFileSync(kind.kubeconfig, kubeconfig)
  for (const tool of ['kind', 'helm'] as const) symlinkSync(toolPath(tool), join(dir, tool))
  await makeNamespace()
  await deleteRecords()
  await uninstall()
  await deleteDefinitions()
  await kubectl('delete', 'namespace', 'depot-system', 'platform', '--ignore-not-found')
  await nameAsInChart()
})
afterAll(async () => {
  await deleteRecords()
  await uninstall()
  // kubectl owns some of their fields.
  await deleteDefinitions()
  rmSync(dir, { recursive: true, force: true })
})

it('the quick start on kind ends with a registry that passes its test', async () => {
  const [first = ''] = shellBlocks('install.md', 'Five minutes on kind')
  const lines = first.split('\n').filter((line) => line !== 'kind create cluster')
  expect(lines).toHaveLength(first.split('\n').length - 1)
  const { code, stdout, stderr } = await type(lines.join('\n'), 280_000)
  if (code !== 0) throw new Error(stderr)
  expect(stdout).toContain('Phase:          Succeeded')
  notes = stdout
}, 300_000)

it('the commands at the end of the notes work', async () => {
  const [, commands = ''] = notes.split('Check the release:\n')
  // The output of `helm test` follows.
  const [block = ''] = commands.replace(/^\n+/, '').split(/\n(?! {2})/)
  const typed = block.split('\n')
  expect(typed).toHaveLength(3)
  const forward = /^ {2}(kubectl .*port-forward.*)$/m.exec(notes)?.[1] ?? ''
  const [port = 0] = await freePorts(1)
  // Another program of this machine may use 8080.
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

it('the first Depot of the page is accepted', async () => {
  const [, second = ''] = shellBlocks('install.md', 'Five minutes on kind')
  // The rest contacts GitHub, which is unreachable here.
  const [create = '', applied = ''] = second.split('\n')
  expect(await type(`${create}\n${applied}`)).toMatchObject({ code: 0 })
})

it('every command of the runbooks works', async () => {
  const [start = '', ...blocks] = shellBlocks('runbooks.md')
  expect(
    await type(`${start}\n[ "$(metrics | grep -c depot_catalog_synced)" -gt 3 ]`),
  ).toMatchObject({
    code: 0,
  })
  // The cluster of the suite lacks these: cert-manager, a metrics server, `df` in its image of Valkey, backups, scans.
  // Definitions are applied to a cluster without them.
  const elsewhere =
    /certificate|kubectl top|kubectl patch pvc$| df |secret NAME|apply .*config\/crd|depot-backup|depot-scanning|snapshot/
  const inline = inlineCommands('runbooks.md', ['kubectl', 'logs', 'metrics'])
  const commands = [...blocks.flatMap((block) => block.trim().split('\n')), ...inline]
    .filter((command) => !elsewhere.test(command))
    .map((command) => command.replaceAll('groupbinding NAME', 'groupbindings'))
  expect(commands.length).toBeGreaterThan(25)
  const failed: object[] = []
  for (const command of new Set(commands)) {
    // A grep may find nothing, and no container has run before this one.
    const { code, stderr } = await type(`set +e +o pipefail\n${start}\n${command}`)
    const said = stderr
      .replace(/^.*(?:previous terminated container|No resources found).*$/gm, '')
      .trim()
    if (said !== '' || code > 1) failed.push({ command, code, said })
  }
  expect(failed).toEqual([])
})

it('the commands of the page remove everything that an uninstall leaves', async () => {
  await uninstall()
  const [removal = ''] = shellBlocks('upgrading.md', 'Uninstall')
  expect(await type(removal)).toMatchObject({ code: 0 })
  const left = await kubectl('get', 'crd', '-o', 'name')
  expect(left).not.toContain('depot.internal')
  expect(await kubectl('-n', 'depot-system', 'get', 'pvc', '-o', 'name')).toBe('')
})

it('takes over definitions of kubectl as the page says', async () => {
  // Definitions of an older release differ.
  const older = "kubectl kustomize config/crd | sed 's/description: The /description: This /'"
  expect(await type(`${older} | kubectl apply --server-side -f -`)).toMatchObject({ code: 0 })
  const install = [
    'helm upgrade --install depot config/chart --namespace depot-system --create-namespace',
    '--set server.replicaCount=0,controller.enabled=false,valkey.enabled=false',
  ].join(' ')
  const refused = await type(install)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('cannot be imported into the current release')
  const [adopt = ''] = shellBlocks('upgrading.md', 'Custom resource definitions')
  expect(await type(adopt)).toMatchObject({ code: 0 })
  const conflicting = await type(install)
  expect(conflicting.stderr).toContain('conflict with "kubectl"')
  expect(await type(`${install} --force-conflicts`)).toMatchObject({ code: 0 })
})
