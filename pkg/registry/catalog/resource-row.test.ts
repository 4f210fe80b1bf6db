import { expect, it } from 'vitest'
import { parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { repoUrlOf } from './resource-row.ts'

const git = (url: string) => ({ source: { type: 'git', url } })

it.each([
  [{ repoUrl: 'https://a.test/x', ...git('https://b.test/y.git') }, 'https://a.test/x'],
  [git('https://git.test/team/vpc.git'), 'https://git.test/team/vpc'],
  [git('https://user:secret@git.test:8443/team/vpc/?token=1#x'), 'https://git.test:8443/team/vpc'],
  [git('ssh://git@git.test:7999/team/vpc.git'), 'https://git.test/team/vpc'],
  [git('git@git.test:team/vpc.git'), 'https://git.test/team/vpc'],
  [git('file:///srv/vpc'), undefined],
  [git('javascript:alert(1)'), undefined],
  [{ source: { type: 'archive', url: 'https://a.test/vpc-{version}.zip' } }, undefined],
  [{ source: { type: 'registry', url: 'registry.test/acme/vpc/aws' } }, undefined],
  [{ repoOwner: 'acme' }, 'https://github.com/acme/vpc'],
  [
    { repoOwner: 'acme', githubClientConfig: { apiUrl: 'https://ghe.test/api/v3' } },
    'https://ghe.test/acme/vpc',
  ],
  [{}, undefined],
])('finds the repository of a module with %j: %s', (moduleConfig, expected) => {
  const metadata = { name: 'vpc' }
  const parsed = parseResource('Module', { kind: 'Module', metadata, spec: { moduleConfig } })
  expect(parsed.ok && repoUrlOf(parsed.resource)).toBe(expected)
})
