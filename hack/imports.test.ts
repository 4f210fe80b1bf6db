import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

type Package = readonly [name: string, is: string, may: readonly string[]]

const ground = [
  'pkg/api/*',
  'pkg/base/errors',
  'pkg/base/telemetry',
  'pkg/base/pacing',
  'pkg/base/memory',
  'pkg/base/http',
]

/**
 * Each package, what it is, and the packages it may import, from the programs down to what stands on nothing. `below`
 * is every package further down.
 */
const packages: readonly Package[] = [
  ['cmd/depot', 'The command `depot`: finds the command that was asked for.', ['below']],
  ['cmd/server', 'The registry: reads options, wires, runs, stops.', ['below']],
  ['cmd/ui', 'The explorer as a process.', ['below']],
  ['cmd/controller', 'The controller as a process.', ['below']],
  ['cmd/explain', 'Says what a GroupBinding gives to a list of groups.', ['below']],
  ['cmd/lint', 'Checks manifests before they are applied.', ['below']],
  ['cmd/keygen', 'Makes a signing key.', ['below']],
  ['cmd/import', 'Fills a registry from another one.', ['below']],
  ['cmd/sync', 'Runs the reconcilers over a folder of manifests.', ['below']],
  ['cmd/selftest', 'Checks an installed registry from inside the cluster.', []],
  ['pkg/registry/server', "The registry's routes and its ready answers, put together.", ['below']],
  ['pkg/explorer', 'The web page of the registry, and the server of that page.', ['below']],
  ['pkg/fill/sync', 'Reconcilers: a folder for each kind.', ['below']],
  ['pkg/fill/lint', 'What is wrong with a set of manifests.', ['below']],
  [
    'pkg/fill/importing',
    'Reads another registry, a folder of archives or tags into manifests.',
    ['below'],
  ],
  ['pkg/registry/protocol', 'The module and provider protocols.', ['below']],
  ['pkg/registry/browse', 'The API for browsing.', ['below']],
  ['pkg/registry/broker', 'Passes /broker/* on to the identity broker.', ['below']],
  [
    'pkg/registry/catalog',
    'The indexed store that every answer comes from.',
    [...ground, 'pkg/registry/access', 'pkg/expr'],
  ],
  [
    'pkg/records/objects',
    'Whole objects for reconcilers.',
    [...ground, 'pkg/records/kube', 'pkg/records/manifests'],
  ],
  ['pkg/registry/auth', 'Who is calling.', [...ground, 'pkg/registry/access', 'pkg/expr']],
  ['pkg/registry/access', 'What a caller may see.', [...ground, 'pkg/expr']],
  ['pkg/records/lease', 'Which replica may write.', [...ground, 'pkg/records/kube']],
  ['pkg/records/kube', 'Reads and writes a cluster.', ground],
  ['pkg/records/folderlock', 'Which process may write to a folder.', ['pkg/base/errors']],
  ['pkg/records/manifests', 'Reads a folder of manifests.', ground],
  ['pkg/archives/storage', 'Where archives are.', [...ground, 'pkg/archives/spool']],
  [
    'pkg/fill/sources',
    'Where archives come from.',
    [
      ...ground,
      'pkg/fill/egress',
      'pkg/archives/archive',
      'pkg/fill/constraint',
      'pkg/archives/spool',
    ],
  ],
  [
    'pkg/archives/spool',
    'Archives on their way: files that grow, room on the disk, checks, a thread that hashes.',
    ground,
  ],
  ['pkg/archives/signing', 'Signs lists of checksums.', ground],
  ['pkg/registry/downloads', 'Counts downloads.', ground],
  ['pkg/fill/egress', 'The only way out to an upstream.', ground],
  ['pkg/archives/archive', 'Reads and writes zip and tar archives safely.', ground],
  ['pkg/fill/constraint', 'Version constraints in the syntax of the CLIs.', ['pkg/base/errors']],
  ['pkg/fill/queue', 'A queue of keys with backoff.', ground],
  ['pkg/base/serving', 'The shell of a process that serves HTTP.', ground],
  ['pkg/base/proxy', 'A reverse proxy.', [...ground, 'pkg/base/serving']],
  [
    'pkg/base/run',
    'The life of a process: options, parts started and stopped in order, exit status.',
    [...ground, 'pkg/base/options'],
  ],
  [
    'pkg/base/http',
    'Outgoing requests.',
    ['pkg/base/errors', 'pkg/base/telemetry', 'pkg/base/pacing', 'pkg/base/memory'],
  ],
  ['pkg/expr', 'The expression language of GroupBindings.', []],
  ['pkg/api/browse', 'The records of the API for browsing.', ['pkg/api/v1alpha1']],
  ['pkg/api/registry', 'The answers of the registry protocols.', ['pkg/api/v1alpha1']],
  ['pkg/api/v1alpha1', 'The custom resources.', []],
  ['pkg/base/options', 'Options of the commands.', ['pkg/base/errors']],
  [
    'pkg/base/telemetry',
    'Logs and metrics.',
    ['pkg/base/errors', 'pkg/base/memory', 'pkg/base/pacing'],
  ],
  ['pkg/base/pacing', 'Backoff, deadlines, turns and limits.', ['pkg/base/errors']],
  [
    'pkg/base/memory',
    'Bounds on memory: maps that forget, the heap, garbage, texts and shapes.',
    [],
  ],
  ['pkg/base/errors', 'The error that callers see.', []],
]

const names = packages.map(([name]) => name)
const packageOf = (file: string): string | undefined =>
  names.find((name) => file.startsWith(`${name}/`))
const entryOf = (name: string): string => `${name}/${name.split('/').at(-1)}.ts`
const isTest = (file: string): boolean => /\.(test|fixture)\.tsx?$/.test(file)

function allowed(name: string): readonly string[] {
  const row = names.indexOf(name)
  return (packages[row]?.[2] ?? []).flatMap((may) =>
    may === 'below'
      ? names.slice(row + 1)
      : may.endsWith('/*')
        ? names.filter((other) => other.startsWith(may.slice(0, -1)))
        : [may],
  )
}

/** The files that a file imports by a relative path. */
function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.tsx?)'/g)].map(([, target]) =>
    normalize(join(dirname(file), target ?? '')),
  )
}

const sources = (pattern: string): string[] =>
  globSync(pattern).filter((file) => !file.includes('/dist/'))
const own = sources('{cmd,pkg}/**/*.{ts,tsx}')
const production = own.filter((file) => !isTest(file))
const beside = sources('{hack,e2e}/**/*.{ts,tsx}')

it('knows the package of every file', () => {
  expect(production.length).toBeGreaterThan(10)
  expect(own.filter((file) => packageOf(file) === undefined)).toEqual([])
})

/** A comment that belongs to the file: what follows is a blank line, an import or a re-export, and no declaration. */
const opening = /^\/\*\*\s+(?:\* )?[A-Z](?:(?!\*\/).)*\*\/\n(?:\n|import |export (?:type )?[{*])/s

it.each(names.filter((name) => name.startsWith('pkg/')))(
  'the entry file of %s opens with what the package is',
  (name) => {
    expect(readFileSync(entryOf(name), 'utf8')).toMatch(opening)
  },
)

/** What is wrong with the imports of a file in `pkg` or `cmd`, a line each. */
function mistakesOf(file: string): string[] {
  const name = packageOf(file) ?? ''
  return importsOf(file).flatMap((target) => {
    const other = packageOf(target)
    if (other === name) return []
    if (isTest(file)) {
      if (other === undefined) {
        return /^hack\/(testbed\/|[^/]+\.ts)/.test(target)
          ? []
          : [`${target} is not for tests of pkg`]
      }
      return isTest(target) || target === entryOf(other) ? [] : [notEntry(target, other)]
    }
    if (other === undefined || !allowed(name).includes(other)) {
      return [`${name} must not import ${target}`]
    }
    return target === entryOf(other) ? [] : [notEntry(target, other)]
  })
}

const notEntry = (target: string, other: string): string =>
  `${target} is inside of ${other}: import ${entryOf(other)}`

it.each(own)('%s imports only what its package may, by the entry file', (file) => {
  expect(mistakesOf(file)).toEqual([])
})

it.each(production.filter((file) => file.startsWith('pkg/explorer/web/')))(
  '%s, which runs in browsers, imports nothing but types of pkg/api/browse',
  (file) => {
    const runs = readFileSync(file, 'utf8').replaceAll(/import type [^;]*?from '[^']+'/g, '')
    const outside = importsOf(file).filter((target) => !target.startsWith('pkg/explorer/'))
    expect(outside.filter((target) => target !== entryOf('pkg/api/browse'))).toEqual([])
    expect(runs).not.toContain('apis/browse')
  },
)

it.each(beside)('%s imports entry files and fixtures, and hack never imports e2e', (file) => {
  const mistakes = importsOf(file).flatMap((target) => {
    const other = packageOf(target)
    if (file.startsWith('hack/') && target.startsWith('e2e/')) return [`hack imports ${target}`]
    if (other === undefined || isTest(target) || target === entryOf(other)) return []
    return [notEntry(target, other)]
  })
  expect(mistakes).toEqual([])
})
