/** Compares two versions of a module: what changed for its callers, and whether that breaks them. */

import type {
  FolderDocs,
  InterfaceChange,
  ModuleComparison,
  ModuleDocs,
} from '../../api/docs/docs.ts'
import { folderChanges, type Work, workOfModule } from './folder-changes.ts'
import { moduleText, providerText } from './pairs.ts'

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
