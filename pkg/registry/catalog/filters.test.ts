import { expect, it } from 'vitest'
import { Bits } from './collections.ts'
import { NameSearch, sortByRelevance, wordsOf } from './filters.ts'
import { Listed } from './summary.ts'

const entries = [
  ['network', 'vpc', 'vpc/aws', 5],
  ['network', 'vpc-endpoints', 'vpc-endpoints/aws', 900],
  ['platform', 'shared-vpc', 'shared-vpc/google', 900],
  ['platform', 'mypvpc', 'mypvpc/aws', 900],
  ['data', 'vpc', 'vpc/azurerm', 7],
  ['hashicorp', 'aws-mirror', 'aws', 1],
].map(([namespace, name, address, downloads], number) =>
  listed(number, { kind: 'Module', namespace, name, address, downloads }),
)

/** Creates an entry with the part of its summary that searching reads. */
function listed(number: number, summary: object): Listed {
  return Object.assign(Object.create(Listed.prototype) as Listed, { number, summary })
}

function find(text: string): string[] {
  const search = new NameSearch()
  const set = new Bits()
  for (const entry of entries) {
    search.put(entry)
    set.add(entry.number)
  }
  search.narrow(set, text)
  const found = Array.from(set, (number) => entries[number] as Listed)
  return sortByRelevance(found, text).map(
    ({ summary: { namespace, name } }) => `${namespace}/${name}`,
  )
}

it('ranks equal names, then names that begin with the text, then words that begin with it, then the rest', () => {
  expect(find('VPC')).toEqual([
    'data/vpc',
    'network/vpc',
    'network/vpc-endpoints',
    'platform/shared-vpc',
    'platform/mypvpc',
  ])
})

it.each([
  ['vpc aws', ['network/vpc', 'network/vpc-endpoints', 'platform/mypvpc']],
  ['  google   platform ', ['platform/shared-vpc']],
  ['vpc nothing', []],
])('finds entries that contain every word: %j', (text, found) => expect(find(text)).toEqual(found))

it.each([
  'network/vpc',
  'network/vpc/aws',
  'depot.example.com/network/vpc/aws',
  'localhost:8080/network/vpc/aws',
  '"depot.example.com/network/vpc/aws"',
  'tfr://depot.example.com/network/vpc/aws?version=1.0.0',
  'depot.example.com/network/vpc/aws//modules/x',
  'https://depot.example.com/network/module/vpc?version=1.0.0#usage',
  '/network/module/vpc',
])('finds the resource of the address %j first', (text) => {
  expect(find(text)[0]).toBe('network/vpc')
  expect(find(text)).not.toContain('data/vpc')
})

it('finds a resource by its name and by the name in configurations', () => {
  expect(find('hashicorp/aws')).toEqual(['hashicorp/aws-mirror'])
  expect(find('/-/r/hashicorp/provider/aws-mirror')).toEqual(['hashicorp/aws-mirror'])
})

it('follows changed addresses, and forgets removed ones', () => {
  const search = new NameSearch()
  const [entry] = entries as [Listed]
  const has = (text: string): boolean => {
    const set = new Bits()
    set.add(entry.number)
    search.narrow(set, text)
    return !set.empty
  }
  search.put(entry)
  const changed = listed(entry.number, { ...entry.summary, address: 'vpc/oci' })
  search.put(changed)
  expect([has('vpc/oci'), has('vpc/aws')]).toEqual([true, false])
  search.delete(changed)
  expect(has('vpc')).toBe(false)
})

it('reads a text of dots in linear time', () => {
  expect(wordsOf('.'.repeat(200_000))).toHaveLength(1)
  expect(wordsOf(`${'.'.repeat(200_000)}/`)).toHaveLength(1)
})
