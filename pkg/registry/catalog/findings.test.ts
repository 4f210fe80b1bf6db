import { describe, expect, it } from 'vitest'
import { cpuTimeMs } from '../../../hack/testbed/cpu-time.ts'
import { CheckedFinding, type SecurityFinding } from '../../api/v1alpha1/v1alpha1.ts'
import { type FindingList, FindingTable } from './findings.ts'

const finding = (fields: Partial<SecurityFinding> = {}): SecurityFinding => ({
  vulnerabilityID: 'CVE-1',
  pkgName: 'p',
  installedVersion: '1',
  severity: 'LOW',
  title: '',
  ...fields,
})

const findingsIn = (table: FindingTable, list: FindingList): SecurityFinding[] =>
  Array.from(table.ids(list), (id) => table.at(id))

/** As many findings as fit into a scan of 0.9 MB, all with the same id. */
const scan = (from: number) =>
  Array.from({ length: 9_000 }, (_, i) => finding({ pkgName: `p${from * 9_000 + i}` }))

describe('findings that share one vulnerability id', () => {
  it('are stored and released in linear time', () => {
    const table = new FindingTable()
    const startMs = cpuTimeMs()
    const lists = Array.from({ length: 8 }, (_, i) => table.hold(scan(i)))
    expect(table.size).toBe(72_000)
    for (const list of lists) table.release(list)
    expect(table.size).toBe(0)
    // Reading all of them took a minute on a quiet machine.
    expect(cpuTimeMs() - startMs).toBeLessThan(15_000)
  })

  it('are stored once for both scans, and dropped with the last list', () => {
    const table = new FindingTable()
    const first = table.hold(scan(0))
    const second = table.hold(scan(0).toReversed())
    expect(table.size).toBe(9_000)
    expect(Array.from(table.ids(second)).toReversed()).toEqual(Array.from(table.ids(first)))
    table.release(first)
    expect(table.size).toBe(9_000)
    expect(findingsIn(table, second)[8_999]).toEqual(finding({ pkgName: 'p0' }))
    table.release(second)
    expect(table.size).toBe(0)
  })

  it('count once for each package and version, with the worse severity, in any order', () => {
    const table = new FindingTable()
    const crowd = table.hold(scan(0))
    const mild = table.hold([finding({ pkgName: 'late' })])
    const severe = table.hold([finding({ pkgName: 'late', severity: 'HIGH' })])
    const other = table.hold([finding({ pkgName: 'later' })])
    table.release(crowd)
    const again = table.hold([finding({ pkgName: 'late', title: 'another' })])
    const lists = [mild, severe, other, again]
    expect(table.distinct(lists)).toEqual([...table.ids(severe), ...table.ids(other)])
    expect(table.countByRank(lists)).toEqual([0, 1, 0, 1, 0])
    expect(table.distinct([again, mild])).toEqual([...table.ids(again)])
    expect(table.distinct([])).toEqual([])
  })

  it('differ by every field, even if a text contains the separator', () => {
    const table = new FindingTable()
    const crowd = scan(0)
    const alike = [
      finding({ pkgName: 'a","b', installedVersion: 'c' }),
      finding({ pkgName: 'a', installedVersion: 'b","c' }),
      finding({ pkgName: 'a', installedVersion: 'b', title: 'c' }),
      finding({ pkgName: 'a', installedVersion: 'b', fixedVersion: 'c' }),
      finding({ pkgName: 'a', installedVersion: 'b', severity: 'c' }),
    ]
    expect(new Set(table.ids(table.hold([...crowd, ...alike]))).size).toBe(9_005)
  })
})

it('are found by their content if their remembered position has another finding', () => {
  const [table, other] = [new FindingTable(), new FindingTable()]
  const [first, second, equal] = ['a', 'b', 'b'].map(
    (pkgName) => new CheckedFinding(finding({ pkgName })),
  ) as [CheckedFinding, CheckedFinding, CheckedFinding]
  other.hold([second])
  const list = table.hold([first, second])
  expect(findingsIn(table, list)).toEqual([finding({ pkgName: 'a' }), finding({ pkgName: 'b' })])
  const again = table.hold([equal, first, equal])
  const [a, b] = table.ids(list)
  expect([...table.ids(again)]).toEqual([b, a, b])
  table.release(list)
  table.release(again)
  expect(table.size).toBe(0)
  // Both positions have other findings now.
  const swapped = table.hold([equal, first])
  expect(findingsIn(table, swapped)).toEqual([finding({ pkgName: 'b' }), finding({ pkgName: 'a' })])
  expect(findingsIn(other, other.hold([second, first]))).toEqual([
    finding({ pkgName: 'b' }),
    finding({ pkgName: 'a' }),
  ])
})
