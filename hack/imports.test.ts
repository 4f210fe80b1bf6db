import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

/** Each room and the rooms it may import, by their doors. Rooms of one line do not import each other. */
const layers: readonly (readonly [rooms: readonly string[], may: readonly string[] | 'below'])[] = [
  [['cmd/server'], 'below'],
  [['pkg/explorer'], ['pkg/errors', 'pkg/http', 'pkg/proxy', 'pkg/serving', 'pkg/telemetry']],
  [['pkg/server'], 'below'],
  [['pkg/registry', 'pkg/browse', 'pkg/broker'], 'below'],
  [['pkg/proxy'], ['pkg/errors', 'pkg/http']],
  [['pkg/serving'], ['pkg/errors', 'pkg/telemetry']],
  [['pkg/catalog'], ['pkg/apis/v1alpha1', 'pkg/access', 'pkg/errors']],
  [
    ['pkg/kube', 'pkg/manifests'],
    ['pkg/apis/v1alpha1', 'pkg/errors', 'pkg/http', 'pkg/telemetry'],
  ],
  [['pkg/auth'], ['pkg/apis/v1alpha1', 'pkg/access', 'pkg/errors', 'pkg/http', 'pkg/telemetry']],
  [['pkg/access'], ['pkg/apis/v1alpha1', 'pkg/errors', 'pkg/expr']],
  [
    ['pkg/storage', 'pkg/signing', 'pkg/downloads'],
    ['pkg/apis/v1alpha1', 'pkg/errors', 'pkg/http', 'pkg/telemetry'],
  ],
  [['pkg/apis/v1alpha1'], []],
  [['pkg/http'], ['pkg/errors']],
  [['pkg/errors', 'pkg/expr', 'pkg/options', 'pkg/telemetry'], []],
]

const rooms = layers.flatMap(([names]) => names)
const roomOf = (file: string): string | undefined =>
  rooms.find((room) => file.startsWith(`${room}/`))
const doorOf = (room: string): string => `${room}/${room.split('/').at(-1)}.ts`

function allowed(room: string): readonly string[] {
  const row = layers.findIndex(([names]) => names.includes(room))
  const may = layers[row]?.[1] ?? []
  return may === 'below' ? layers.slice(row + 1).flatMap(([names]) => names) : may
}

/** The relative imports of a file that leave its room. */
function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)]
    .map(([, target]) => normalize(join(dirname(file), target ?? '')))
    .filter((target) => roomOf(target) !== roomOf(file))
}

const files = globSync('{cmd,pkg}/**/*.ts').filter((file) => !file.endsWith('.test.ts'))

it('finds the rooms', () => {
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter((file) => roomOf(file) === undefined)).toEqual([])
})

it.each(files)('%s imports only what its room may', (file) => {
  const room = roomOf(file) ?? ''
  for (const target of importsOf(file)) {
    const other = roomOf(target)
    expect(allowed(room), `${file} imports ${target}`).toContain(other)
    expect(target, `${file} must enter ${other} by its door`).toBe(doorOf(other ?? ''))
  }
})
