import { describe, expect, it } from 'vitest'
import { parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { FindingTable } from './findings.ts'
import { VersionList } from './parent.ts'
import { RowContext } from './resource-row.ts'
import { isSameArchive, VersionRow, versionOrder } from './version-row.ts'

const context = new RowContext(new FindingTable())

function row(version: string, architecture: string, rank: number): VersionRow {
  const spec = { type: 'Provider', version, operatingSystem: 'linux', architecture }
  const name = `r${rank}`
  const parsed = parseResource('Version', { metadata: { name, namespace: 'team' }, spec })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  const made = new VersionRow(parsed.resource, context)
  made.rank = rank
  return made
}

/** A seeded generator: the same numbers in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function randomRow(random: (below: number) => number, versions: number, rank: number): VersionRow {
  const version = random(30) === 0 ? `none-${random(3)}` : `${random(versions)}.0.0`
  return row(random(20) === 0 ? `${version}-rc.1` : version, `a${random(6)}`, rank)
}

const namesOf = (rows: readonly VersionRow[]): string[] => rows.map(({ name }) => name)

function expectToBe(list: VersionList, rows: readonly VersionRow[]): void {
  const sorted = rows.toSorted(versionOrder)
  const isDuplicate = (one: VersionRow, index: number): boolean => {
    const before = sorted[index - 1]
    return before !== undefined && isSameArchive(before, one)
  }
  expect(namesOf(list.versions)).toEqual(namesOf(sorted))
  expect(sorted.filter((one) => one.isDuplicate)).toEqual(sorted.filter(isDuplicate))
}

describe('a list of Versions', () => {
  it.each([1, 2, 3, 4])('is sorted and has its duplicates after any changes (%i)', (seed) => {
    const random = chance(seed)
    const list = new VersionList()
    const versions = [2000, 300, 5, 1][seed - 1] ?? 1
    const rows: VersionRow[] = []
    const wereThere = new Set<boolean>()
    for (let round = 1; round <= 8; round += 1) {
      for (let step = 0; step < 500; step += 1) {
        const isGrowing = round <= 4 ? random(5) > 0 : random(5) === 0
        const [one] = isGrowing ? [] : rows.splice(random(rows.length), 1)
        if (one !== undefined) wereThere.add(list.remove(one))
        else rows.push(randomRow(random, versions, round * 500 + step))
        if (one === undefined) list.insert(rows.at(-1) as VersionRow)
      }
      expectToBe(list, rows)
    }
    const some = rows.at(-1) ?? randomRow(random, versions, 0)
    const same = rows.filter(({ version }) => version === some.version).toSorted(versionOrder)
    expect(namesOf(list.rowsOf(some.version))).toEqual(namesOf(same))
    const original = same.find((one) => isSameArchive(one, some))
    expect(list.originalOf(some)).toBe(original)
    for (const one of rows) wereThere.add(list.remove(one))
    expect([...wereThere]).toEqual([true])
    expect(list.remove(row('1.0.0', 'none', 1))).toBe(false)
    expect([list.versions, list.chunks]).toEqual([[], []])
  })

  it('keeps the rows of a version in one chunk, and splits large chunks with several versions', () => {
    const random = chance(9)
    const list = new VersionList()
    for (let rank = 0; rank < 6000; rank += 1) {
      list.insert(
        rank % 4 === 0 ? row('77.0.0', `b${random(900)}`, rank) : randomRow(random, 400, rank),
      )
    }
    const seen = list.chunks.flatMap(({ rows }) => [...new Set(rows.map((one) => one.version))])
    expect(new Set(seen).size).toBe(seen.length)
    const large = list.chunks.filter(({ rows }) => rows.length > 256)
    expect(large.map(({ rows }) => new Set(rows.map((one) => one.version)).size)).toEqual([1])
    expect(list.chunks.length).toBeLessThan(6000 / 64)
  })

  it('moves rows to another list and accepts rows of others', () => {
    const random = chance(5)
    const rows = Array.from({ length: 3000 }, (_, rank) => randomRow(random, 700, rank))
    const list = new VersionList()
    for (const one of rows) list.insert(one)
    const other = new VersionList()
    const homeOf = ({ arch }: VersionRow) => (arch === 'a1' ? other : list)
    const gone = list.release(homeOf)
    expect([...gone.keys()]).toEqual([other])
    expectToBe(
      list,
      rows.filter((one) => homeOf(one) === list),
    )
    other.absorb(gone.get(other) ?? [])
    expectToBe(
      other,
      rows.filter((one) => homeOf(one) === other),
    )
    list.absorb(other.release(() => list).get(list) ?? [])
    expectToBe(list, rows)
    expect(other.chunks).toEqual([])
  })
})
