import { join } from 'node:path'
import { defaultLimits, type LimitsByKind } from '../../pkg/archives/archive/archive.ts'
import { openSpool, type Spool } from '../../pkg/archives/spool/spool.ts'
import {
  type ArchiveStore,
  grantProblems,
  openArchiveStore,
  type StoreGrants,
  storageOfEnvironment,
} from '../../pkg/archives/storage/storage.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'
import { madeFolderProblem, readTextFile } from '../../pkg/base/run/run.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { openEgress } from '../../pkg/fill/egress/egress.ts'
import { openSources, type Sources } from '../../pkg/fill/sources/sources.ts'
import type { Objects } from '../../pkg/records/objects/objects.ts'

/** The options that `depot controller` and `depot sync` share. */
export interface FetchingOptions {
  readonly spoolDir: string
  readonly spoolSizeBytes: number
  readonly moduleSizeLimitBytes: number
  readonly moduleUnpackedLimitBytes: number
  readonly providerSizeLimitBytes: number
  readonly providerUnpackedLimitBytes: number
  readonly githubSecretName: string
  readonly githubApiUrl: string
  readonly upstreamHosts: readonly string[]
  readonly sourceHosts: readonly string[]
  readonly egressAllow: readonly string[] | undefined
  readonly egressPrivateCidrs: readonly string[] | undefined
  readonly egressPublicDownloads: boolean
  readonly egressCaPath: string | undefined
}

/** What fetches and stores archives. */
export interface Fetching {
  readonly sources: Sources
  readonly archives: ArchiveStore
  readonly spool: Spool
  readonly limits: LimitsByKind
  close(): Promise<void>
}

/**
 * Opens what fetches and stores archives.
 *
 * @param mountPath root of the filesystem backend
 * @throws OptionsError naming everything that cannot be used
 */
export async function openFetching({
  options,
  mountPath,
  env,
  secret,
  grants,
  log,
  metrics,
}: {
  readonly options: FetchingOptions
  readonly mountPath: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secret: Objects['secret']
  /** Which places each namespace may use; default: every place. */
  readonly grants?: StoreGrants | undefined
  readonly log: Logger
  readonly metrics: Metrics
}): Promise<Fetching> {
  const proxies = proxyRules(env)
  const storage = storageOfEnvironment(env)
  const problems = [
    ...proxies.problems,
    ...storage.problems,
    ...grantProblems(grants?.text).map((problem) => `--storage-grants: ${problem}`),
  ]
  const attempt = async <T>(flag: string, open: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await open()
    } catch (error) {
      problems.push(`${flag}: ${messageOf(error)}`)
      return undefined
    }
  }
  const { egressCaPath, spoolDir, upstreamHosts } = options
  const ca =
    egressCaPath && (await attempt('--egress-ca-path', () => readAuthorities(egressCaPath)))
  const policy = {
    hosts: [...upstreamHosts, ...options.sourceHosts, ...(options.egressAllow ?? [])],
    privateNetworks: options.egressPrivateCidrs ?? [],
    publicDownloads: options.egressPublicDownloads,
  }
  const egress = await attempt('--egress-allow, --egress-private-cidrs', () =>
    openEgress({ policy, environment: env, log, metrics, ...(ca && { ca }) }),
  )
  const spoolProblem = madeFolderProblem('--spool-dir', spoolDir, 0o700)
  if (spoolProblem !== undefined) problems.push(spoolProblem)
  const spool =
    spoolProblem === undefined
      ? await attempt('--spool-dir', () =>
          openSpool({ dir: spoolDir, sizeBytes: options.spoolSizeBytes }),
        )
      : undefined
  if (problems.length > 0 || egress === undefined || spool === undefined) {
    await Promise.all([egress?.close(), spool?.close()])
    throw new OptionsError(problems)
  }
  const { githubSecretName, githubApiUrl } = options
  return {
    spool,
    limits: {
      module: {
        ...defaultLimits.module,
        packedBytes: options.moduleSizeLimitBytes,
        unpackedBytes: options.moduleUnpackedLimitBytes,
      },
      provider: {
        ...defaultLimits.provider,
        packedBytes: options.providerSizeLimitBytes,
        unpackedBytes: options.providerUnpackedLimitBytes,
      },
    },
    archives: openArchiveStore(
      { filesystemMountPath: mountPath, proxies, ...storage.settings },
      grants,
    ),
    sources: openSources({
      egress,
      spool,
      secrets: secret,
      listingsDir: join(spoolDir, 'listings'),
      upstreamHosts,
      githubSecretName,
      githubApiUrl,
      log,
      metrics,
    }),
    async close() {
      await Promise.all([egress.close(), spool.close()])
    },
  }
}

/** @throws Error where it is no file of certificates */
async function readAuthorities(path: string): Promise<string> {
  const text = await readTextFile(path)
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new Error(`${path} holds no certificate; write PEM, from -----BEGIN CERTIFICATE----- on`)
}
