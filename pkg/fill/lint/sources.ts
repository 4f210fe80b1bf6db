import { parseConstraints } from '../../api/constraint/constraint.ts'
import {
  type Depot,
  type FieldIssue,
  type ModuleConfig,
  mistakesIn,
  type ProviderConfig,
  type UpstreamPolicy,
} from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { brokenRules } from '../policy/policy.ts'
import { modulePlace, providerAddressOf } from '../sources/sources.ts'
import { itemProblem, itemsOf } from '../sync/sync.ts'
import { about, isOf, type LintFinding, type PlacedObject } from './finding.ts'
import type { PlacedParent } from './parents.ts'

type Path = FieldIssue['path']
type Config = Partial<ModuleConfig & ProviderConfig>

export interface SourceOptions {
  /** Registries that the controller may ask. */
  readonly upstreamHosts: readonly string[]
}

/** Checks configs as the controller and `depot sync` read them. */
export function* inSources(object: PlacedObject, options: SourceOptions): Generator<LintFinding> {
  if (isOf('Depot')(object)) yield* inDepot(object, options)
  else if (isOf('Module')(object) || isOf('Provider')(object)) yield* inParent(object, options)
}

function* inDepot(depot: PlacedObject<Depot>, options: SourceOptions): Generator<LintFinding> {
  const { global, moduleConfigs = [], policy, providerConfigs = [] } = depot.resource.spec
  const globalPath: Path = ['spec', 'global', 'moduleConfig']
  const paths: Path[] = [
    ...moduleConfigs.map((_, index) => ['spec', 'moduleConfigs', index]),
    ...providerConfigs.map((_, index) => ['spec', 'providerConfigs', index]),
  ]
  yield* inPolicy(depot, policy, ['spec', 'policy'])
  yield* inPolicy(depot, global?.policy, ['spec', 'global', 'policy'])
  yield* inConstraint(depot, global?.moduleConfig, globalPath)
  for (const [index, config] of [...moduleConfigs, ...providerConfigs].entries()) {
    yield* inConstraint(depot, config, paths[index] ?? [])
    yield* inDocs(depot, config, paths[index] ?? [], options)
  }
  const isFound = finderOf(depot)
  const shared = global?.moduleConfig && originOf(global.moduleConfig)
  let isSharedFound = false
  for (const [index, item] of itemsOf(depot.resource, []).entries()) {
    const path = paths[index] ?? []
    const problem = itemProblem(item)
    if (problem !== undefined) yield about(depot, 'source', problem, { path })
    const own = [...moduleConfigs, ...providerConfigs][index]
    const isShared = shared !== undefined && own !== undefined && originOf(own) === undefined
    const place = isShared && item.kind === 'Module' ? globalPath : path
    if (isFound(place) || (place === globalPath && isSharedFound)) continue
    const config = item.config as Config
    const message = sourceProblem(item.kind, config, options)
    if (message === undefined) continue
    if (place === globalPath) isSharedFound = true
    yield about(depot, 'source', message, { path: [...place, ...(originOf(config) ?? [])] })
  }
}

/** A module or provider that a person wrote has a source only if it lists versions to fetch. */
function* inParent(parent: PlacedParent, options: SourceOptions): Generator<LintFinding> {
  const [field, config]: [string, Config] =
    parent.resource.kind === 'Module'
      ? ['moduleConfig', parent.resource.spec.moduleConfig]
      : ['providerConfig', parent.resource.spec.providerConfig]
  const path = ['spec', field]
  yield* inConstraint(parent, config, path)
  yield* inDocs(parent, config, path, options)
  const origin = originOf(config)
  if (parent.resource.spec.versions.length === 0 || origin === undefined) return
  if (finderOf(parent)(path)) return
  const { kind, name } = parent.key
  const message = sourceProblem(kind === 'Module' ? kind : 'Provider', { name, ...config }, options)
  if (message !== undefined) yield about(parent, 'source', message, { path: [...path, ...origin] })
}

function* inPolicy(
  depot: PlacedObject<Depot>,
  policy: UpstreamPolicy = {},
  at: Path,
): Generator<LintFinding> {
  for (const { path, message } of brokenRules(policy)) {
    yield about(depot, 'policy', message, { path: [...at, ...path] })
  }
}

function* inConstraint(
  object: PlacedObject,
  config: Config | undefined,
  path: Path,
): Generator<LintFinding> {
  try {
    parseConstraints(config?.versionConstraints ?? '')
  } catch (error) {
    yield about(object, 'constraint', messageOf(error), { path: [...path, 'versionConstraints'] })
  }
}

/** Checks where the documentation of a provider comes from. */
function* inDocs(
  object: PlacedObject,
  { name, docs, githubClientConfig }: Config,
  path: Path,
  options: SourceOptions,
): Generator<LintFinding> {
  if (docs === undefined || finderOf(object)([...path, 'docs'])) return
  const message = sourceProblem('Module', { name, source: docs, githubClientConfig }, options)
  const at = [...path, 'docs', ...(docs.url === undefined ? [] : ['url'])]
  if (message !== undefined) yield about(object, 'source', message, { path: at })
}

function sourceProblem(
  kind: 'Module' | 'Provider',
  config: Config,
  { upstreamHosts }: SourceOptions,
): string | undefined {
  const githubApiUrl = 'https://api.github.com'
  try {
    if (kind === 'Module') modulePlace(config, { upstreamHosts, githubApiUrl })
    else providerAddressOf(config, upstreamHosts)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** The field that names the source; undefined if none does. */
function originOf({ source, repoUrl, repoOwner, upstreamHost }: Config): Path | undefined {
  if (source?.url !== undefined) return ['source', 'url']
  if (source !== undefined) return ['source']
  if (repoUrl !== undefined) return ['repoUrl']
  if (repoOwner !== undefined) return ['repoOwner']
  return upstreamHost === undefined ? undefined : ['upstreamHost']
}

/** Tells whether a path has a mistake that is a finding already. */
function finderOf({ resource }: PlacedObject): (path: Path) => boolean {
  const mistakes = mistakesIn(resource).map(({ path }) => path)
  return (path) => mistakes.some((mistake) => path.every((part, at) => mistake[at] === part))
}
