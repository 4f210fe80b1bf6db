import { oneLine } from '../../api/changes/changes.ts'
import type { DocsProblem, ModuleDocs } from '../../api/docs/docs.ts'

/** Lists problems in the files of a module, of its root, submodules and examples. */
export const docsProblems = ({ root, submodules, examples }: ModuleDocs): DocsProblem[] =>
  [root, ...submodules, ...examples].flatMap(({ path, error }) =>
    error === undefined ? [] : [{ ...error, file: error.file ?? (path || 'the root module') }],
  )

/** Formats a problem with its place in one line, such as `main.tf:2: Invalid expression`. */
export const problemText = ({ message, file, line }: DocsProblem): string => {
  const place = [file, line].filter((part) => part !== undefined).join(':')
  return oneLine(place === '' ? message : `${place}: ${message}`)
}
