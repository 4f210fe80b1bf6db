import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workspace } from '../../hack/testbed/cli/cli.ts'
import { apply, kind, kubectlHere, namespace, requestsOf, run } from './cluster.fixture.ts'
import {
  applySamples,
  deleteRecords,
  fillClaim,
  install,
  makeNamespace,
  ownEnd,
  podsOf,
  startShell,
  tokenOf,
  uninstall,
  untilServed,
  url,
  versionsOf,
} from './release.fixture.ts'

/*
 * Both major versions of Helm install the chart with its defaults, except for the images, a claim for archives, quicker probes
 * and the end of the explorer's pods. Callers send a token of a service account, and see what that account may read.
 */

const network =
  'module "network" {\n  source  = "depot.test/platform/network/aws"\n  version = "2.0.0"\n}\n'

beforeAll(async () => {
  await makeNamespace()
  // `helm test` checks the storage of every record, including those of other tests.
  await deleteRecords()
})
afterAll(async () => {
  await uninstall()
})

describe.each(['helm', 'helm3'] as const)('with %s', (name) => {
  const helm = kind.tools[name]
  let warnings: string
  let token: string

  beforeAll(async () => {
    await uninstall(helm)
    warnings = await install({ server: ownEnd }, { helm, validate: true })
    await applySamples()
    await fillClaim()
    await apply([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'caller', namespace } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'caller' },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'depot-reader',
        },
        subjects: [{ kind: 'ServiceAccount', name: 'caller', namespace }],
      },
    ])
    token = await tokenOf('caller')
    await untilServed(token)
  })

  it('the pods pass the restricted level without a warning', () => {
    expect(warnings).not.toMatch(/warning|would violate/i)
  })

  it('a caller without a token is refused', async () => {
    expect(await versionsOf('platform/network/aws')).toBe(401)
  })

  it.each(['terraform', 'tofu'] as const)('%s init from outside installs a module', async (cli) => {
    const workspace = new Workspace(kind.tools[cli], url, network, {
      TF_TOKEN_depot_test: token,
    })
    await workspace.must('init')
    expect(workspace.modules()['network']?.version).toBe('2.0.0')
  })

  it('terraform init from a pod installs a module', async () => {
    await startShell('client')
    const configuration = [
      'credentials "depot.test" {',
      `  token = "${token}"`,
      '}',
      'host "depot.test" {',
      `  services = { "modules.v1" = "http://depot-server.${namespace}.svc/depot/modules/v1/" }`,
      '}',
    ].join('\n')
    const script = [
      'cd /data',
      `printf '%s' '${network}' > main.tf`,
      `printf '%s' '${configuration}' > /data/rc`,
      'TF_CLI_CONFIG_FILE=/data/rc CHECKPOINT_DISABLE=1 terraform init -no-color -input=false',
    ].join('\n')
    expect(await kubectlHere('exec', 'client', '--', 'sh', '-euc', script)).toContain(
      'initialized!',
    )
    await kubectlHere('delete', 'pod', 'client', '--wait=false')
  })

  it('helm test passes', async () => {
    const flags = ['-n', namespace, '--timeout', '90s', '--logs']
    const { code, stdout, stderr } = await run(helm, ['test', 'depot', ...flags])
    expect(code, `${stdout}\n${stderr}`).toBe(0)
  })

  it('the server is refused no request, and reads only by lists and watches', async () => {
    const pods = await podsOf('server')
    const asked = () => requestsOf('depot-server', pods)
    const before = asked().length
    for (let count = 0; count < 50; count += 1) await versionsOf('platform/network/aws', token)
    const requests = asked()
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([])
    expect(requests.filter(({ verb }) => !['list', 'watch', 'get'].includes(verb))).toEqual([])
    expect(requests.length - before).toBeLessThan(10)
  })

  it('every pod runs as an unprivileged user on a read-only disk', async () => {
    const [pod = ''] = await podsOf('server')
    const script = "console.log(process.getuid()); require('node:fs').writeFileSync('/app/x', '')"
    const node = ['/nodejs/bin/node', '-e', script]
    const written = await run('kubectl', ['-n', namespace, 'exec', pod, '--', ...node])
    expect(written.stdout.trim()).toBe('65532')
    expect(written.stderr).toContain('EROFS')
  })
})
