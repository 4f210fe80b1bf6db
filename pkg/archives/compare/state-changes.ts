import type { FolderDocs } from '../../api/docs/docs.ts'
import { type FolderChange, moduleText, pairs, type VersionPair } from './pairs.ts'

/** Changes inside of a module: resources of the state, data sources and module calls. */
export function stateChanges(before: FolderDocs, after: FolderDocs): FolderChange[] {
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
