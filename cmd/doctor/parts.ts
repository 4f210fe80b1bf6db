import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { customResourceKinds, kinds } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { checkSigningKey } from '../../pkg/archives/signing/signing.ts'
import type { ServerCommandOptions } from '../../pkg/base/options/options.ts'
import { madeFolderProblem } from '../../pkg/base/run/run.ts'
import type { Api, Connection } from '../../pkg/records/kube/kube.ts'
import { tryValkey } from '../../pkg/registry/downloads/downloads.ts'
import { type Examination, failed, ok, warning } from './check.ts'
import { ask, clockFinding } from './reach.ts'

/** Checks the key that signs lists of checksums. */
export function keyCheck(path: string | undefined, passphrase: string | undefined): Examination {
  const remedy = 'create one with depot keygen, and name it with --gpg-private-key-path'
  return {
    what: 'signing key',
    remedy: 'replace the file (the Secret that is mounted there), or DEPOT_GPG_PASSPHRASE',
    async run() {
      if (path === undefined) return warning('none: providers cannot be installed', remedy)
      await checkSigningKey(path, passphrase)
      return ok(`${path} signs`)
    },
  }
}

/** Checks the Valkey that counts downloads, password included. */
export function valkeyChecks(
  address: ServerCommandOptions['statsValkeyAddr'],
  password: string | undefined,
): Examination[] {
  if (address === undefined) return []
  return [
    {
      what: `Valkey at ${address.host}:${address.port}`,
      remedy:
        'check --stats-valkey-addr, DEPOT_VALKEY_PASSWORD and network policies; until it answers, counts wait on disk',
      async run() {
        await tryValkey(address, password)
        return ok('it answers')
      },
    },
  ]
}

/** Looks for git, which sources of the type git need. */
export function gitCheck(): Examination {
  return {
    what: 'git',
    async run() {
      try {
        const { stdout } = await promisify(execFile)('git', ['--version'])
        return ok(stdout.trim())
      } catch {
        return warning(
          'not found: sources with spec.source.git cannot be fetched',
          'use the image whose tag ends in -git, or install git',
        )
      }
    },
  }
}

/** Checks the folder for archives in transit. */
export function spoolCheck(dir: string): Examination {
  return {
    what: 'spool',
    run() {
      const problem = madeFolderProblem('--spool-dir', dir, 0o700)
      return problem === undefined ? ok(`${dir} can be written`) : failed(problem, '')
    },
  }
}

/** Checks the API server: reachable, its clock, and whether it serves Depot's kinds. */
export function clusterChecks(connection: Connection, api: Api, apiGroup: string): Examination[] {
  const definitionsRemedy =
    'install the chart with crds.install=true, or kubectl apply --server-side -k config/crd'
  return [
    {
      what: 'API server',
      remedy: 'check --kubeconfig, or network policies and DNS of the pod',
      async run() {
        const { server, headers, tls: trust, proxyUrl } = await connection.credentials()
        const { aheadSeconds } = await ask(`${server}/version`, { headers, trust, proxyUrl })
        return clockFinding(`the API server ${server}`, aheadSeconds)
      },
    },
    {
      what: 'definitions',
      remedy: definitionsRemedy,
      async run() {
        const { resources } = (await api.request('GET', `/apis/${apiGroup}/v1alpha1`)) as {
          resources: readonly { readonly name: string }[]
        }
        const served = new Set(resources.map(({ name }) => name))
        const missing = customResourceKinds
          .map((kind) => kinds[kind].plural)
          .filter((plural) => !served.has(plural))
        if (missing.length === 0) return ok(`${apiGroup} serves all kinds`)
        return failed(`${apiGroup} does not serve ${missing.join(', ')}`, definitionsRemedy)
      },
    },
  ]
}
