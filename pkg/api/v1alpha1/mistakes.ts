import type { GithubClientConfig } from './metadata.ts'
import type { ModuleConfig } from './module.ts'
import type { ModuleSource } from './module-source.ts'
import type { ProviderConfig } from './provider.ts'
import * as rules from './rules.ts'
import type { StorageConfig } from './storage-config.ts'
import type { FieldIssue, Resource } from './v1alpha1.ts'
import type { Version } from './version.ts'

type Path = readonly (string | number)[]
type Issues = Generator<FieldIssue>

/**
 * What an API server with today's definitions would refuse of an object that is valid otherwise, because it cannot work:
 * objects in a folder were never shown to one, and those of a cluster may be older than a rule.
 */
export function mistakesIn(resource: Resource): readonly FieldIssue[] {
  return [...mistakesOf(resource)]
}

function* mistakesOf(resource: Resource): Issues {
  const { kind } = resource
  if (kind === 'Module') yield* inModule(resource.spec.moduleConfig, ['spec', 'moduleConfig'])
  if (kind === 'Provider') {
    yield* inProvider(resource.spec.providerConfig, ['spec', 'providerConfig'])
  }
  if (kind === 'Version') yield* inVersion(resource)
  if (kind === 'GroupBinding') {
    const { providerResources } = resource.spec
    yield* inEach([rules.exactProvider], providerResources, ['spec', 'providerResources'])
  }
  if (kind !== 'Depot') return
  const { global, moduleConfigs = [], providerConfigs = [] } = resource.spec
  yield* inModule(global?.moduleConfig, ['spec', 'global', 'moduleConfig'])
  yield* inGithub(global?.githubClientConfig, ['spec', 'global'])
  yield* inStorage(global?.storageConfig, ['spec', 'global', 'storageConfig'])
  for (const [index, config] of moduleConfigs.entries()) {
    yield* inModule(config, ['spec', 'moduleConfigs', index])
  }
  for (const [index, config] of providerConfigs.entries()) {
    yield* inProvider(config, ['spec', 'providerConfigs', index])
  }
}

function* inVersion({ spec, status }: Version): Issues {
  yield* inValue(rules.fileName, spec.fileName, ['spec', 'fileName'])
  yield* inValue(rules.operatingSystem, spec.operatingSystem, ['spec', 'operatingSystem'])
  yield* inValue(rules.architecture, spec.architecture, ['spec', 'architecture'])
  yield* inEach([rules.protocol], spec.protocols, ['spec', 'protocols'])
  const ofType = [...rules.refOfType, rules.platformOfProvider, rules.zipOfProvider]
  yield* inValue(ofType, spec, ['spec'])
  yield* inModule(spec.moduleConfigRef, ['spec', 'moduleConfigRef'])
  yield* inProvider(spec.providerConfigRef, ['spec', 'providerConfigRef'])
  yield* inValue(rules.fileName, spec.upload?.fileName, ['spec', 'upload', 'fileName'])
  yield* inValue([rules.digest], spec.upload?.sha256, ['spec', 'upload', 'sha256'])
  yield* inValue([rules.digest], status?.checksum, ['status', 'checksum'])
}

function* inModule(config: ModuleConfig | undefined, path: Path): Issues {
  if (config === undefined) return
  yield* inValue([rules.moduleName], config.name, [...path, 'name'])
  yield* inValue([rules.targetSystem], config.provider, [...path, 'provider'])
  yield* inSource(config.source, [...path, 'source'])
  yield* inGithub(config.githubClientConfig, path)
  yield* inStorage(config.storageConfig, [...path, 'storageConfig'])
}

function* inSource(source: ModuleSource | undefined, path: Path): Issues {
  yield* inValue(rules.moduleSource, source, path)
  yield* inValue([rules.sourceUrl], source?.url, [...path, 'url'])
  yield* inValue([rules.innerPath], source?.path, [...path, 'path'])
}

function* inGithub(config: GithubClientConfig | undefined, path: Path): Issues {
  yield* inValue([rules.httpsUrl], config?.apiUrl, [...path, 'githubClientConfig', 'apiUrl'])
}

function* inProvider(config: ProviderConfig | undefined, path: Path): Issues {
  if (config === undefined) return
  yield* inValue([rules.providerType], config.name, [...path, 'name'])
  yield* inEach([rules.protocol], config.protocols, [...path, 'protocols'])
  yield* inValue([rules.hostName], config.upstreamHost, [...path, 'upstreamHost'])
  yield* inEach([rules.trustedKey], config.trustedKeys, [...path, 'trustedKeys'])
  yield* inGithub(config.githubClientConfig, path)
  yield* inStorage(config.storageConfig, [...path, 'storageConfig'])
}

function* inStorage(config: StorageConfig | undefined, path: Path): Issues {
  const directory = config?.fileSystem?.directoryPath
  yield* inValue([rules.directoryPath], directory, [...path, 'fileSystem', 'directoryPath'])
}

function* inEach(
  every: readonly rules.FieldRule<string>[],
  values: readonly string[] | undefined,
  path: Path,
): Issues {
  for (const [index, value] of (values ?? []).entries()) {
    yield* inValue(every, value, [...path, index])
  }
}

/** The first rule that a value breaks. */
function* inValue<T>(
  every: readonly rules.FieldRule<T>[],
  value: T | undefined,
  path: Path,
): Issues {
  const broken = value === undefined ? undefined : every.find(({ holds }) => !holds(value))
  if (broken !== undefined) yield { path, message: broken.message }
}
