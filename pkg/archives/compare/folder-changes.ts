import { ConstraintError, excludedVersion } from '../../api/constraint/constraint.ts'
import type { DocsProblem, FolderDocs, InterfaceChange, OutputDocs } from '../../api/docs/docs.ts'
import { inputChanges } from './input-changes.ts'
import { type FolderChange, pairs, providerText, type VersionPair } from './pairs.ts'
import { stateChanges } from './state-changes.ts'

/** Limit of the work for comparing the constraints of a module. Otherwise, a hostile module could need minutes. */
export interface Work {
  left: number
}

/** Enough for a thousand constraints of the usual length. */
export const workOfModule = (): Work => ({ left: 2_000_000 })

/**
 * Lists changes in a folder of both versions, in the order of the module. If one of them cannot be parsed, nothing is known
 * about the others.
 */
export function folderChanges(
  before: FolderDocs,
  after: FolderDocs,
  work: Work,
): InterfaceChange[] {
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
