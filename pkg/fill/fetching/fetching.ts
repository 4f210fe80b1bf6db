/** Opens everything that fetching and storing archives needs, from the options that the controller, sync and import share. */

import { join } from 'node:path'
import { defaultLimits, type LimitsByKind } from '../../archives/archive/archive.ts'
import { openSpool, type Spool } from '../../archives/spool/spool.ts'
import {
  type ArchiveStore,
  grantProblems,
  openArchiveStore,
  type StoreGrants,
  storageOfEnvironment,
} from '../../archives/storage/storage.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { proxyRules } from '../../base/http/http.ts'
import { type FetchingOptions, OptionsError } from '../../base/options/options.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { madeFolderProblem, readTextFile } from '../../base/run/run.ts'
import { gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { Objects } from '../../records/store/store.ts'
import { Egress, type EgressPolicy } from '../egress/egress.ts'
import { type InstallationPolicy, openPolicyFile } from '../policy/policy.ts'
import { openSources, type RegistrySources, type ServicesOf } from '../sources/sources.ts'

type SharedOptions = FetchingOptions & {
  readonly upstreamPolicy?: string | undefined
}

type LimitOptions = Pick<
  FetchingOptions,
  | 'moduleSizeLimitBytes'
  | 'moduleUnpackedLimitBytes'
  | 'providerSizeLimitBytes'
  | 'providerUnpackedLimitBytes'
>

interface OpenOptions {
  readonly options: SharedOptions
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secret: Objects['secret']
  readonly unsignedRemedy?: string
  /** Upstream hosts with configured services, which may be served without TLS. Default: none. */
  readonly servicesOf?: ServicesOf
  /** Default: that of this machine. */
  readonly clock?: Clock
  /** Which places each namespace may use. Default: every place. */
  readonly grants?: StoreGrants | undefined
  readonly log: Logger
  readonly metrics: Metrics
}

export interface Fetching extends AsyncDisposable {
  readonly sources: RegistrySources
  readonly archives: ArchiveStore
  readonly spool: Spool
  readonly limits: LimitsByKind
  readonly policy: EgressPolicy
  readonly installation?: InstallationPolicy
  readonly egress: Egress
  /** The clock that ages of versions are computed with. */
  readonly clock: Clock
}

/** @throws OptionsError naming every option that cannot be used */
export async function openFetching(fetching: OpenOptions): Promise<Fetching> {
  const { options, env, secret, grants, log, metrics, unsignedRemedy, servicesOf } = fetching
  const { clock = Date.now } = fetching
  const installation = await openPolicyFile({ path: options.upstreamPolicy, log, metrics })
  const proxies = proxyRules(env)
  const storage = storageOfEnvironment(env)
  const problems = [
    ...proxies.problems,
    ...storage.problems,
    ...grantProblems(grants?.text).map((problem) => `--storage-grants: ${problem}`),
  ]
  const policy = policyOf(options, servicesOf)
  const readCa = () => readAuthorities(options.egressCaPath)
  const ca = await opened(problems, '--egress-ca-path', readCa)
  const openEgress = () => new Egress({ policy, environment: env, log, metrics, ca, clock })
  const egress = await opened(problems, '--egress-allow, --egress-private-cidrs', openEgress)
  const spool = await openedSpool(problems, options)
  const close = async () => {
    installation?.close()
    await Promise.all([egress?.close(), spool?.close()])
  }
  if (problems.length > 0 || egress === undefined || spool === undefined) {
    await close()
    throw new OptionsError(problems)
  }
  showSpool(metrics, spool)
  const { spoolDir, upstreamHosts, githubSecretName, githubApiUrl } = options
  return {
    spool,
    limits: limitsOf(options),
    policy,
    ...(installation && { installation }),
    egress,
    clock,
    archives: openArchiveStore(
      { filesystemMountPath: options.archives, proxies, ...storage.settings },
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
      unsignedRemedy,
      servicesOf,
      log,
      metrics,
      clock,
    }),
    [Symbol.asyncDispose]: close,
  }
}

/** Opens a part that an option describes. @returns undefined after it noted why that failed */
async function opened<T>(
  problems: string[],
  flag: string,
  open: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await open()
  } catch (error) {
    problems.push(`${flag}: ${messageOf(error)}`)
    return undefined
  }
}

async function openedSpool(
  problems: string[],
  { spoolDir: dir, spoolSizeBytes: sizeBytes }: SharedOptions,
): Promise<Spool | undefined> {
  const problem = madeFolderProblem('--spool-dir', dir, 0o700)
  if (problem === undefined)
    return opened(problems, '--spool-dir', () => openSpool({ dir, sizeBytes }))
  problems.push(problem)
  return undefined
}

function policyOf(options: SharedOptions, servicesOf: ServicesOf | undefined): EgressPolicy {
  const { upstreamHosts, sourceHosts, egressAllow = [], egressPrivateCidrs = [] } = options
  const configured = upstreamHosts
    .flatMap((host) => Object.values(servicesOf?.(host) ?? {}))
    .flatMap((url) => (url === undefined ? [] : (URL.parse(url) ?? [])))
  const origins = (protocol: string) => configured.filter((url) => url.protocol === protocol)
  return {
    hosts: [
      ...upstreamHosts,
      ...sourceHosts,
      ...egressAllow,
      ...origins('https:').map(({ host }) => host),
    ],
    privateNetworks: egressPrivateCidrs,
    publicDownloads: options.egressPublicDownloads,
    plainOrigins: origins('http:').map(({ origin }) => origin),
  }
}

/** The limits of archives that options set. */
export const limitsOf = (options: LimitOptions): LimitsByKind => ({
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
})

/** @throws Error if the file holds no certificate */
async function readAuthorities(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  const text = await readTextFile(path)
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new Error(`${path} holds no certificate; write PEM, from -----BEGIN CERTIFICATE----- on`)
}

/** Shows the use of a spool. Each replica has one, even if it only receives publications. */
export function showSpool(
  metrics: Metrics,
  spool: Pick<Spool, 'reservedBytes' | 'sizeBytes'>,
): void {
  const help = 'Bytes of --spool-size that archives in work have reserved.'
  gauge(metrics, { name: 'spool_bytes', help, collect: (bytes) => bytes.set(spool.reservedBytes) })
  gauge(metrics, {
    name: 'spool_size_bytes',
    help: 'The --spool-size.',
    collect: (bytes) => bytes.set(spool.sizeBytes),
  })
}
