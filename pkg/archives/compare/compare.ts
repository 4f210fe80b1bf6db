/** Compares two versions of a module: what changed for its callers, and whether that breaks them. */

import { ConstraintError, excludedVersion } from '../../api/constraint/constraint.ts'
import type {
  DocsProblem,
  FolderDocs,
  InterfaceChange,
  ModuleComparison,
  ModuleDocs,
  OutputDocs,
} from '../../api/docs/docs.ts'
import {
  type FolderChange,
  inputChanges,
  moduleText,
  pairs,
  providerText,
  type VersionPair,
} from './input-changes.ts'

const order = { breaking: 0, unknown: 1, compatible: 2 }

/**
 * @param from name of the earlier version, for the answer
 * @param to name of the later version
 */
export function compareModules(
  before: ModuleDocs,
  after: ModuleDocs,
  { from, to }: { readonly from: string; readonly to: string },
): ModuleComparison {
  const work = workOfModule()
  const changes = [
    ...folderChanges(before.root, after.root, work),
    ...submoduleChanges(before.submodules, after.submodules, work),
  ].toSorted((a, b) => order[a.verdict] - order[b.verdict])
  return {
    from,
    to,
    verdict: changes[0]?.verdict ?? 'compatible',
    changes,
    readme: readmeChange(before, after),
    dependencies: dependencyChanges(before.root, after.root),
  }
}

function readmeChange(before: ModuleDocs, after: ModuleDocs): ModuleComparison['readme'] {
  if ([before, after].some(({ leftOut }) => leftOut?.includes('readme'))) return 'unknown'
  return before.root.readme === after.root.readme ? 'same' : 'changed'
}

function submoduleChanges(
  before: readonly FolderDocs[],
  after: readonly FolderDocs[],
  work: Work,
): InterfaceChange[] {
  const later = new Map(after.map((folder) => [folder.path, folder]))
  const known = new Set(before.map(({ path }) => path))
  const change = { kind: 'submodule', name: '' } as const
  return [
    ...before.flatMap((folder): InterfaceChange[] => {
      const { path } = folder
      const now = later.get(path)
      if (now !== undefined) return folderChanges(folder, now, work)
      const why = 'The submodule was removed.'
      return [{ ...change, path, before: path, verdict: 'breaking', why }]
    }),
    ...after.flatMap(({ path }): InterfaceChange[] =>
      known.has(path)
        ? []
        : [{ ...change, path, after: path, verdict: 'compatible', why: 'The submodule is new.' }],
    ),
  ]
}

function dependencyChanges(
  before: FolderDocs,
  after: FolderDocs,
): ModuleComparison['dependencies'] {
  if (before.error !== undefined || after.error !== undefined) return []
  const textsOf = ({ providers, modules }: FolderDocs) => ({
    provider: new Map(providers.map((provider) => [provider.name, providerText(provider)])),
    module: new Map(modules.map((call) => [call.name, moduleText(call)])),
  })
  const [old, now] = [textsOf(before), textsOf(after)]
  return (['provider', 'module'] as const).flatMap((kind) =>
    [...new Set([...old[kind].keys(), ...now[kind].keys()])].flatMap((name) => {
      const [was, is] = [old[kind].get(name), now[kind].get(name)]
      if (was === is) return []
      return [
        {
          kind,
          name,
          ...(was !== undefined && { before: was }),
          ...(is !== undefined && { after: is }),
        },
      ]
    }),
  )
}

/** Limit of the work for comparing the constraints of a module. Otherwise, a hostile module could need minutes. */
interface Work {
  left: number
}

/** Enough for a thousand constraints of the usual length. */
const workOfModule = (): Work => ({ left: 2_000_000 })

/**
 * Lists changes in a folder of both versions, in the order of the module. If one of them cannot be parsed, nothing is known
 * about the others.
 */
function folderChanges(before: FolderDocs, after: FolderDocs, work: Work): InterfaceChange[] {
  const { path } = after
  const unreadable = [before, after].flatMap(({ error }, index) =>
    error === undefined ? [] : [{ path, ...parserChange(error, index === 0) }],
  )
  if (unreadable.length > 0) return unreadable
  // Resources imply a provider of their prefix, in any version.
  const implied = new Set(before.resources.map(({ type }) => type.split('_')[0] ?? type))
  const changes: readonly (Omit<InterfaceChange, 'path'> | undefined)[] = [
    ...pairs(before.inputs, after.inputs).flatMap(inputChanges),
    ...pairs(before.outputs, after.outputs).flatMap(outputChanges),
    versionChange(before, after, work),
    ...pairs(before.providers, after.providers).flatMap((pair) =>
      providerChanges(pair, implied, work),
    ),
    ...stateChanges(before, after),
  ]
  return changes.flatMap((change) => (change === undefined ? [] : { path, ...change }))
}

const parserChange = ({ message, file, line }: DocsProblem, isBefore: boolean): FolderChange => ({
  kind: 'parser',
  name: [file ?? [], line ?? []].flat().join(':'),
  verdict: 'unknown',
  why: `A file of the ${isBefore ? 'earlier' : 'later'} version cannot be parsed: ${message.replace(/\.$/, '')}.`,
})

function outputChanges({ name, before, after }: VersionPair<OutputDocs>): FolderChange[] {
  const change = { kind: 'output', name } as const
  if (before === undefined) {
    return [{ ...change, after: name, verdict: 'compatible', why: 'The output is new.' }]
  }
  if (after === undefined) {
    return [{ ...change, before: name, verdict: 'breaking', why: 'The output was removed.' }]
  }
  return (['sensitive', 'ephemeral'] as const).flatMap((flag): FolderChange[] => {
    if (before[flag] === after[flag]) return []
    const texts = { before: `${flag} = ${before[flag]}`, after: `${flag} = ${after[flag]}` }
    return after[flag]
      ? [{ ...change, ...texts, verdict: 'breaking', why: `The output is ${flag} now.` }]
      : [{ ...change, ...texts, verdict: 'compatible', why: `The output is no longer ${flag}.` }]
  })
}

function versionChange(
  { requiredVersion: before }: FolderDocs,
  { requiredVersion: after }: FolderDocs,
  work: Work,
): FolderChange | undefined {
  if (before === after) return undefined
  return {
    kind: 'requiredVersion',
    name: 'required_version',
    before: before ?? 'any version',
    after: after ?? 'any version',
    ...narrowed(before, after, 'of the CLI', work),
  }
}

/** Compares what two constraints allow. */
function narrowed(
  before: string | undefined,
  after: string | undefined,
  of: string,
  work: Work,
): Pick<FolderChange, 'verdict' | 'why'> {
  const cost = ((before?.length ?? 0) + (after?.length ?? 0)) ** 2
  if (cost > work.left) {
    return { verdict: 'unknown', why: 'The changed version constraints are too long to compare.' }
  }
  work.left -= cost
  try {
    const excluded = excludedVersion(before, after)
    return excluded === undefined
      ? { verdict: 'compatible', why: `Every version ${of} that was allowed is still allowed.` }
      : { verdict: 'breaking', why: `Version ${excluded} ${of} was allowed, and no longer is.` }
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error
    return { verdict: 'unknown', why: `A version constraint cannot be read: ${error.message}.` }
  }
}

type Provider = FolderDocs['providers'][number]

function providerChanges(
  { name, before, after }: VersionPair<Provider>,
  implied: ReadonlySet<string>,
  work: Work,
): FolderChange[] {
  const change = { kind: 'provider', name } as const
  if (after === undefined) {
    const was = before && providerText(before)
    const why = 'The provider is no longer required.'
    return [{ ...change, ...(was !== undefined && { before: was }), verdict: 'compatible', why }]
  }
  const old: Provider | undefined =
    before ?? (implied.has(name) ? { name, aliases: [] } : undefined)
  const texts = {
    ...(old !== undefined && { before: providerText(old) }),
    after: providerText(after),
  }
  if (texts.before === texts.after) return []
  const [oldAliases, aliases] = [new Set(old?.aliases), new Set(after.aliases)]
  const added = aliases.difference(oldAliases)
  if (added.size > 0) {
    const why = `Callers must pass ${[...added].join(', ')} in the providers argument.`
    return [{ ...change, ...texts, verdict: 'breaking', why }]
  }
  if (old === undefined) {
    return [{ ...change, ...texts, verdict: 'compatible', why: 'The provider is new.' }]
  }
  if (sourceOf(old) !== sourceOf(after)) {
    const why = 'It is another provider under the same local name.'
    return [{ ...change, ...texts, verdict: 'breaking', why }]
  }
  if (!oldAliases.isSubsetOf(aliases)) {
    const why = 'Callers that pass a configuration that is no longer declared get an error.'
    return [{ ...change, ...texts, verdict: 'breaking', why }]
  }
  return [{ ...change, ...texts, ...narrowed(old.version, after.version, 'of the provider', work) }]
}

/** A source without a namespace is in the namespace hashicorp. */
const sourceOf = ({ name, source = name }: Provider): string =>
  source.includes('/')
    ? source.replace(/^registry\.(?:terraform\.io|opentofu\.org)\//, '')
    : `hashicorp/${source}`

/** Changes inside of a module: resources of the state, data sources and module calls. */
function stateChanges(before: FolderDocs, after: FolderDocs): FolderChange[] {
  const covered = new Set(after.refactorings.map(({ from }) => withoutKeys(from)))
  const addressed = ({ resources }: FolderDocs) =>
    resources.map((resource) => ({ ...resource, name: addressOf(resource) }))
  return [
    ...pairs(addressed(before), addressed(after)).flatMap((pair) => resourceChange(pair, covered)),
    ...pairs(before.modules, after.modules).flatMap((pair) => moduleChange(pair, covered)),
  ]
}

/** The key of an instance. A key without an end extends to the end of the text, so that no `[` in it is tried again. */
const instanceKey = /\[(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|[^[\]"\\])*(?:\]|$)/g

/** The address of a whole resource or module call, without the keys of instances. */
const withoutKeys = (address: string): string => address.replaceAll(instanceKey, '')

const prefixes = { managed: '', data: 'data.', ephemeral: 'ephemeral.' }

const addressOf = ({ mode, type, name }: FolderDocs['resources'][number]): string =>
  `${prefixes[mode]}${type}.${name}`

function resourceChange(
  { name, before, after }: VersionPair<FolderDocs['resources'][number]>,
  covered: ReadonlySet<string>,
): FolderChange[] {
  if (before !== undefined && after !== undefined) return []
  const { mode } = after ?? before ?? {}
  if (before === undefined) {
    const why = mode === 'managed' ? 'The module creates a new resource.' : 'The module reads more.'
    return [{ kind: 'resource', name, after: name, verdict: 'compatible', why }]
  }
  if (mode !== 'managed') {
    const why = 'The module no longer reads it.'
    return [{ kind: 'resource', name, before: name, verdict: 'compatible', why }]
  }
  return [removedFromState(name, name, covered)]
}

/** Without a `moved` or `removed` block, Terraform destroys what is removed from the configuration. */
function removedFromState(
  name: string,
  before: string,
  covered: ReadonlySet<string>,
): FolderChange {
  return covered.has(name)
    ? {
        kind: 'state',
        name,
        before,
        verdict: 'compatible',
        why: 'A moved or removed block covers it.',
      }
    : {
        kind: 'state',
        name,
        before,
        verdict: 'breaking',
        why: 'It is destroyed, because no moved or removed block names it.',
      }
}

function moduleChange(
  { name, before, after }: VersionPair<FolderDocs['modules'][number]>,
  covered: ReadonlySet<string>,
): FolderChange[] {
  const change = { kind: 'module', name } as const
  if (before === undefined) {
    const texts = after && { after: moduleText(after) }
    return [{ ...change, ...texts, verdict: 'compatible', why: 'The module calls another module.' }]
  }
  const was = moduleText(before)
  if (after === undefined) return [removedFromState(`module.${name}`, was, covered)]
  const is = moduleText(after)
  if (was === is) return []
  const why = 'What the called module creates may change.'
  return [{ ...change, before: was, after: is, verdict: 'unknown', why }]
}
