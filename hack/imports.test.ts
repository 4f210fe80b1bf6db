import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

type Plane = readonly [name: string, is: string, may: readonly string[]]

/** Each plane of the code, its purpose, and the planes that it may import: only those below it. */
const planes: readonly Plane[] = [
  ['cmd', 'The programs: each reads options, wires, runs and stops.', ['pkg/*']],
  ['pkg/explorer', 'What people look at: the pages and their server.', ['pkg/base', 'pkg/api']],
  [
    'pkg/registry',
    'Answers requests: catalog, access, callers, protocols, browse API, download counts.',
    ['pkg/archives', 'pkg/expr', 'pkg/base', 'pkg/api'],
  ],
  [
    'pkg/fill',
    'Fills a registry: sources, reconcilers, import, lint.',
    ['pkg/records', 'pkg/archives', 'pkg/expr', 'pkg/base', 'pkg/api'],
  ],
  ['pkg/records', 'Where records are read, watched and written.', ['pkg/base', 'pkg/api']],
  ['pkg/archives', 'Where the bytes of archives are, and signatures.', ['pkg/base', 'pkg/api']],
  ['pkg/expr', 'The expression language of GroupBindings and policies, a library of its own.', []],
  ['pkg/base', 'The parts that every process uses.', []],
  [
    'pkg/api',
    'The contracts: custom resources, browse API, registry protocols, version constraints.',
    [],
  ],
]

/** Planes that are one package; the others hold a package in each folder. */
const undivided = ['pkg/explorer', 'pkg/expr']

const planeOf = (file: string): string | undefined =>
  planes.map(([name]) => name).find((name) => file.startsWith(`${name}/`))

/** The package of a file: `pkg/records/kube`, `cmd/server`, `pkg/expr`. */
function packageOf(file: string): string | undefined {
  const plane = planeOf(file)
  if (plane === undefined || undivided.includes(plane)) return plane
  return file.slice(0, file.indexOf('/', plane.length + 1))
}

const entryOf = (name: string): string => `${name}/${name.split('/').at(-1)}.ts`
const isTest = (file: string): boolean => /\.(test|fixture)\.tsx?$/.test(file)

function mayImport(from: string, to: string): boolean {
  const [, , allowed = []] = planes.find(([name]) => name === from) ?? []
  return from === to || allowed.includes(to) || (allowed.includes('pkg/*') && to !== 'cmd')
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

it('knows the plane of every file', () => {
  expect(production.length).toBeGreaterThan(10)
  expect(own.filter((file) => planeOf(file) === undefined)).toEqual([])
})

it('has a folder for each plane in pkg, and no other', () => {
  const named = planes.map(([name]) => name).filter((name) => name !== 'cmd')
  expect(globSync('pkg/*').toSorted()).toEqual(named.toSorted())
})

/** The nodes of a graph that lead back to themselves. */
function circlesIn(imports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...imports.keys()].filter((start) => {
    const reached = new Set<string>()
    const next = [start]
    for (let name = next.pop(); name !== undefined; name = next.pop()) {
      const others = [...(imports.get(name) ?? [])].filter((other) => !reached.has(other))
      for (const other of others) reached.add(other)
      next.push(...others)
    }
    return reached.has(start)
  })
}

it('has no circle of packages', () => {
  const imports = new Map<string, Set<string>>()
  for (const file of production) {
    const name = packageOf(file) ?? ''
    const others = imports.get(name) ?? new Set()
    for (const target of importsOf(file)) {
      const other = packageOf(target)
      if (other !== undefined && other !== name) others.add(other)
    }
    imports.set(name, others)
  }
  expect(circlesIn(imports)).toEqual([])
})

/** Files that may import each other: those of the grammar. */
const circular = /^pkg\/expr\/(?:parser|primary)\.ts$/

it('has no circle of files, not even of types', () => {
  const imports = new Map(production.map((file) => [file, new Set(importsOf(file))]))
  expect(circlesIn(imports).filter((file) => !circular.test(file))).toEqual([])
})

/** A comment of the file: a blank line, an import or a re-export follows, not a declaration. */
const opening = /^\/\*\*\s+(?:\* )?[A-Z](?:(?!\*\/).)*\*\/\n(?:\n|import |export (?:type )?[{*])/s

const names = [...new Set(production.map((file) => packageOf(file) ?? ''))]

it.each(names.filter((name) => name.startsWith('pkg/')))(
  'the entry file of %s begins with a description of the package',
  (name) => {
    expect(readFileSync(entryOf(name), 'utf8')).toMatch(opening)
  },
)

/** The wrong imports of a file in `pkg` or `cmd`, a line each. */
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
    if (other === undefined || !mayImport(planeOf(file) ?? '', planeOf(target) ?? '')) {
      return [`${name} must not import ${target}`]
    }
    return target === entryOf(other) ? [] : [notEntry(target, other)]
  })
}

const notEntry = (target: string, other: string): string =>
  `${target} is inside of ${other}: import ${entryOf(other)}`

it.each(own)('%s imports only planes below its own, by entry files', (file) => {
  expect(mistakesOf(file)).toEqual([])
})

/** The code of a file without its imports and exports of types. */
const runningCode = (file: string): string =>
  readFileSync(file, 'utf8').replaceAll(
    /(?:import type [^;]*?|export type (?:\{[^}]*\}|\*) )from '[^']+'/g,
    '',
  )

it.each(production.filter((file) => file.startsWith('pkg/explorer/web/')))(
  '%s, which runs in browsers, imports nothing but types of pkg/api/browse and texts of pkg/api/usage, changes and findings',
  (file) => {
    const allowed = ['browse', 'usage', 'changes', 'findings'].map((name) =>
      entryOf(`pkg/api/${name}`),
    )
    const outside = importsOf(file).filter((target) => !target.startsWith('pkg/explorer/'))
    expect(outside.filter((target) => !allowed.includes(target))).toEqual([])
    expect(runningCode(file)).not.toContain('api/browse/')
  },
)

it.each(production.filter((file) => /^pkg\/api\/(?:usage|changes)\//.test(file)))(
  '%s, which runs in browsers, needs no code of another folder',
  (file) => {
    const imported = runningCode(file).matchAll(/^(?:import|export) [^;]*? from '([^']+)'/gm)
    const outside = [...imported].filter(([, from]) => !from?.startsWith('./'))
    expect(outside.map(([, from]) => from)).toEqual([])
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
