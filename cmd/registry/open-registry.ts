import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { parseConstraints, selectVersions } from '../../pkg/api/constraint/constraint.ts'
import type { ModuleDocs } from '../../pkg/api/docs/docs.ts'
import { defaultLimits } from '../../pkg/archives/archive/archive.ts'
import { openModuleDocs } from '../../pkg/archives/docs/docs.ts'
import { hasReason, jsonOf, messageOf } from '../../pkg/base/errors/errors.ts'
import {
  type CompareCommandOptions,
  mistakeIn,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import { readTextFile } from '../../pkg/base/run/run.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { localNetworks } from '../../pkg/fill/egress/egress.ts'
import { type Fetching, openFetching } from '../../pkg/fill/fetching/fetching.ts'
import type { SentToRegistry } from '../../pkg/fill/sources/sources.ts'
import { type CliConfig, readCliConfig } from './cli-config.ts'

/** A version of a module in a registry. */
export interface RegistryVersion {
  readonly host: string
  /** `namespace/name/system`. */
  readonly path: string
  readonly version: string
}

/** Something in a registry, such as a module or a version of a provider. */
interface RegistryAddress extends Omit<RegistryVersion, 'version'> {
  readonly version: string | undefined
}

const part = '[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?'
const address = new RegExp(
  `^([A-Za-z0-9][A-Za-z0-9.-]*(?::\\d+)?)/(${part}/${part}(?:/${part})?)(?:@(.+))?$`,
)

/** Reads `HOST/NAMESPACE/NAME/SYSTEM` or `HOST/NAMESPACE/TYPE`, with or without `@VERSION`; undefined for any other text. */
export function registryAddress(text: string): RegistryAddress | undefined {
  const [, host, path, version] = address.exec(text) ?? []
  if (host === undefined || path === undefined || !/[.:]/.test(host)) return undefined
  return { host, path, version }
}

/** The kind that the path of an address has. */
export const kindAt = (path: string): 'module' | 'provider' =>
  path.split('/').length === 2 ? 'provider' : 'module'

/** Reads `HOST/NAMESPACE/NAME/SYSTEM`, with or without `@VERSION`; undefined for a path on the file system. */
export function registryModule(operand: string): RegistryAddress | undefined {
  const found = registryAddress(operand)
  const isModule = found !== undefined && kindAt(found.path) === 'module' && !existsSync(operand)
  return isModule ? found : undefined
}

/** Reads a module on the file system. @throws OptionsError */
export async function localDocs(operand: string): Promise<ModuleDocs> {
  if (existsSync(operand)) return openModuleDocs(operand).catch(mistakeIn(operand))
  throw new OptionsError([
    `${JSON.stringify(operand)} is neither a folder or archive nor the address of a module: write a path, or HOST/NAMESPACE/NAME/SYSTEM without https://`,
  ])
}

/** A request to a registry. Default: a GET. */
interface RegistryRequest extends SentToRegistry {
  readonly signal?: AbortSignal
}

/** `1.0.0` of `v1.0.0`. */
const withoutV = (version: string): string => version.replace(/^v(?=\d)/, '')

/** Registries as the CLIs of this machine know them. */
const cliConfig = () =>
  readCliConfig(process.env, homedir(), (problem) => process.stderr.write(`depot: ${problem}\n`))

/** A token for all hosts, instead of those of the CLIs. */
export interface GivenToken {
  /** Reads the token that is valid now. */
  readonly current: () => Promise<string>
  /** Advice if a registry refuses the token. */
  readonly remedy: string
}

/** The token of `--token-file`. @throws OptionsError if the file cannot be read or is empty */
export async function tokenInFile(file: string): Promise<GivenToken> {
  const current = async (): Promise<string> => {
    const text = await readTextFile(file).catch(mistakeIn('--token-file'))
    if (text.trim() !== '') return text.trim()
    throw new OptionsError([`--token-file: ${file} is empty: write the token into it`])
  }
  await current()
  return { current, remedy: `the token in ${file} may have expired: write another one into it` }
}

interface RegistryParts {
  readonly fetching: Fetching
  /** A temporary folder of its own. */
  readonly dir: string
  readonly given: GivenToken | undefined
  readonly tokenFor: CliConfig['tokenFor']
}

/**
 * Opens what is needed to read registries.
 *
 * @param given default: the tokens of the CLIs
 * @throws OptionsError for options that cannot be used
 */
export async function openRegistry(
  options: Pick<CompareCommandOptions, 'egressAllow' | 'egressCaPath'>,
  hosts: readonly string[],
  given?: GivenToken,
): Promise<Registry> {
  const { servicesOf, tokenFor } = await cliConfig()
  const dir = await mkdtemp(join(tmpdir(), 'depot-compare-'))
  const { packedBytes, unpackedBytes } = defaultLimits.module
  const fetching = await openFetching({
    options: {
      archives: dir,
      spoolDir: dir,
      spoolSizeBytes: 2 * packedBytes,
      moduleSizeLimitBytes: packedBytes,
      moduleUnpackedLimitBytes: unpackedBytes,
      providerSizeLimitBytes: 0,
      providerUnpackedLimitBytes: 0,
      githubSecretName: '',
      githubApiUrl: 'https://api.github.com',
      upstreamHosts: [...new Set(hosts)],
      sourceHosts: [],
      egressAllow: options.egressAllow,
      egressPrivateCidrs: localNetworks,
      egressPublicDownloads: true,
      egressCaPath: options.egressCaPath,
    },
    env: process.env,
    servicesOf,
    secret: async (_namespace, host) => {
      const known = given === undefined ? tokenFor(host) : await given.current()
      return known === undefined ? undefined : { token: Buffer.from(known) }
    },
    log: createLogger('silent'),
    metrics: createMetrics(),
  }).catch(async (error: unknown) => {
    await rm(dir, { recursive: true })
    throw error
  })
  return new Registry({ fetching, dir, given, tokenFor })
}

/** Registries, with the hosts and tokens of this machine. */
export class Registry implements AsyncDisposable {
  readonly #parts: RegistryParts

  constructor(parts: RegistryParts) {
    this.#parts = parts
  }

  /** The version of an address, spelled as in the registry. Default: the newest that is not a prerelease. */
  async versionOf({ host, path, version }: RegistryAddress): Promise<RegistryVersion> {
    if (version !== undefined) return { host, path, version: withoutV(version) }
    return this.#withModule({ host, path }, async (_source, listed) => {
      const [newest] = selectVersions(listed, parseConstraints('')).versions
      if (newest !== undefined) return { host, path, version: newest }
      const why = listed.length === 0 ? 'lists no version of it' : 'lists only prereleases of it'
      throw new Error(`the registry ${why}: write one, such as ${host}/${path}@1.0.0-rc.1`)
    })
  }

  docsOf({ host, path, version }: RegistryVersion): Promise<ModuleDocs> {
    return this.#withModule({ host, path }, async (source, listed) => {
      const wanted = withoutV(version)
      if (!listed.includes(wanted)) throw new Error(noVersion(listed))
      const resolved = await source.resolve(wanted, this.#asking())
      const fetched = await source.fetch(resolved, this.#asking())
      return openModuleDocs(fetched.file.path, fetched.path)
    })
  }

  /** Asks a service of a registry; the answer may have any status. @throws FillError */
  ask(
    host: string,
    service: 'modules.v1' | 'providers.v1',
    path: string,
    { signal = new AbortController().signal, ...sent }: RegistryRequest = {},
  ) {
    const question = { host, service, path, secretName: this.#secretOf(host) }
    return this.#parts.fetching.sources.ask(question, { ...sent, signal, urgent: true })
  }

  /** Whether there is a token for a host. */
  hasToken(host: string): boolean {
    return this.#secretOf(host) !== undefined
  }

  /** How a person gets a token that the registry accepts. */
  remedyFor(host: string): string {
    return this.#parts.given?.remedy ?? loginRemedy(host, this.hasToken(host))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.fetching[Symbol.asyncDispose]()
    await rm(this.#parts.dir, { recursive: true, force: true })
  }

  #secretOf(host: string): string | undefined {
    const { given, tokenFor } = this.#parts
    return given === undefined && !tokenFor(host) ? undefined : host
  }

  #asking() {
    const { limits } = this.#parts.fetching
    return { signal: new AbortController().signal, urgent: true, limits: limits.module }
  }

  /** Runs a function with a module and its listed versions. */
  async #withModule<T>(
    { host, path }: Omit<RegistryVersion, 'version'>,
    work: (source: ModuleSource, listed: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const name = this.#secretOf(host)
    const secretRef = name === undefined ? {} : { secretRef: { name } }
    const source = this.#parts.fetching.sources.module(
      { source: { type: 'registry', url: `${host}/${path}`, ...secretRef } },
      '',
    )
    try {
      const { versions } = await source.list(this.#asking())
      return await work(
        source,
        versions.map(({ version }) => version),
      )
    } catch (error) {
      if (!hasReason(error, 'AccessDenied')) throw error
      const message = `${messageOf(error)}; ${this.remedyFor(host)}`
      throw new Error(message, { cause: error })
    }
  }
}

type ModuleSource = ReturnType<Fetching['sources']['module']>

const Refusal = z.object({ errors: z.array(z.string()).min(1) })

/** Reads the message of an error of a registry, and adds the remedy after `; ` if the caller is refused. */
export function refusalOf({ status, body }: Answer, remedy: string) {
  const [text] = Refusal.safeParse(jsonOf(body.toString())).data?.errors ?? []
  return { text, remedy: status === 401 || status === 403 ? `; ${remedy}` : '' }
}

type Answer = Awaited<ReturnType<Registry['ask']>>

const shownVersions = 5

function noVersion(versions: readonly string[]): string {
  if (versions.length === 0) return 'the registry lists no version of it'
  const shown = versions.slice(0, shownVersions).join(', ')
  return `the registry has no such version: it lists ${shown}${versions.length > shownVersions ? ', …' : ''}`
}

/** How a person gets a token that a registry accepts. */
export const loginRemedy = (host: string, hasToken: boolean): string =>
  hasToken
    ? `the token may have expired: run terraform login ${host} again`
    : `run terraform login ${host}, or set TF_TOKEN_${host.replaceAll('-', '__').replaceAll('.', '_')}`
