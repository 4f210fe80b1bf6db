import { expect, it } from 'vitest'
import { addressOf, isAccepted, isSameSource, isSuspicious, suspiciousList } from './known.ts'

it.each([
  ['git:https://git.test/team/vpc.git', 'git:https://git.test/team/vpc', true],
  ['git:https://git.test/team/vpc', 'git:https://GIT.test/team/vpc/', true],
  ['git:https://git.test/team/vpc', 'git:ssh://git@git.test/team/vpc.git', true],
  ['git:https://git.test/team/vpc', 'git:https://git.test/team/VPC', false],
  ['git:https://git.test/team/vpc', 'git:https://other.test/team/vpc', false],
  ['github:api.github.com/team/vpc', 'github:api.github.com/team/network', false],
  ['provider:registry.terraform.io/a/b', 'provider:registry.opentofu.org/a/b', false],
])('%s and %s are the same source: %s', (one, other, same) => {
  expect(isSameSource(one, other)).toBe(same)
})

it.each([
  { listed: [], accepted: [], suspicious: false },
  { listed: [], accepted: ['1.0.0'], suspicious: true },
  { listed: ['v1.0.0'], accepted: ['1.0.0', '1.1.0'], suspicious: false },
  { listed: ['1.0.0'], accepted: ['1.0.0', '1.1.0', '1.2.0'], suspicious: true },
  { listed: ['2.0.0'], accepted: [], suspicious: false },
])('a list of $listed after $accepted is suspicious: $suspicious', (example) => {
  expect(isSuspicious(example.listed, example.accepted)).toBe(example.suspicious)
})

it('is accepted by itself after three polls of the same list in a day', () => {
  const hour = 60 * 60_000
  const item = { kind: 'Module', name: 'vpc' } as const
  const first = suspiciousList(item, ['1.0.0'], undefined, 0)
  expect(isAccepted(first, undefined, 48 * hour)).toBe(false)
  const third = suspiciousList(item, ['v1.0.0'], { ...first, polls: 2 }, 24 * hour)
  expect(third).toMatchObject({ since: first.since, polls: 3 })
  expect(isAccepted(third, undefined, 23 * hour)).toBe(false)
  expect(isAccepted(third, undefined, 24 * hour)).toBe(true)
  const changed = suspiciousList(item, ['1.1.0'], third, 25 * hour)
  expect(changed).toMatchObject({ polls: 1 })
  expect(isAccepted(changed, `x, ${changed.token}`, 25 * hour)).toBe(true)
})

it.each([
  ['github:api.github.com/acme/terraform-aws-vpc', 'github.com/acme/terraform-aws-vpc'],
  ['git:https://Git.test/team/vpc.git/', 'git.test/team/vpc'],
  ['git:https://git.test:8443/team/vpc', 'git.test/8443/team/vpc'],
  ['registry:registry.test/acme/vpc/aws', 'registry.test/acme/vpc/aws'],
  ['provider:registry.test/hashicorp/aws', 'registry.test/hashicorp/aws'],
  ['git:https://github.com/%65vil/v%70c%2Egit', 'github.com/evil/vpc'],
  ['git:https://github.com./evil//vpc', 'github.com/evil/vpc'],
  ['git:https://git.test//team%2Fvpc%C3%A9', 'git.test/team%2Fvpc%C3%A9'],
  ['archive:https://codeload.github.com/evil/vpc/tar.gz/v{version}', 'github.com/evil/vpc'],
  ['archive:https://github.com/evil/vpc.git/archive/v{version}.zip', 'github.com/evil/vpc'],
  ['archive:https://api.github.com/repos/evil/vpc/tarball/v{version}', 'github.com/evil/vpc'],
  ['archive:https://files.test/vpc-{version}.zip', 'files.test/vpc-{version}.zip'],
])('names the source %s as %s', (identity, address) => {
  expect(addressOf(identity)).toBe(address)
})

it('compares URLs of many slashes and at signs at once', () => {
  expect(
    isSameSource(`git:https://git.test/a${'/'.repeat(200_000)}b`, 'git:https://git.test/a'),
  ).toBe(false)
  expect(
    isSameSource(`git:https://git.test/a.git${'/'.repeat(200_000)}`, 'git:https://git.test/a'),
  ).toBe(true)
})
