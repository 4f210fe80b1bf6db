import { expect, it } from 'vitest'
import { filesUrl } from './files-url.ts'

it.each([
  ['https://github.com/acme/network', 'https://github.com/acme/network/blob/v1.2.0/'],
  ['https://github.com/acme/network.git', 'https://github.com/acme/network/blob/v1.2.0/'],
  ['https://github.acme.com/a/b/', 'https://github.acme.com/a/b/blob/v1.2.0/'],
  ['https://gitlab.com/acme/a/b', 'https://gitlab.com/acme/a/b/-/blob/v1.2.0/'],
  ['https://user:secret@gitlab.acme.com/a/b', 'https://gitlab.acme.com/a/b/-/blob/v1.2.0/'],
  ['https://bitbucket.org/acme/b', 'https://bitbucket.org/acme/b/src/v1.2.0/'],
])('links to the files of %s at a tag', (repoUrl, expected) => {
  expect(filesUrl(repoUrl, 'v1.2.0')).toBe(expected)
})

it('links to the folder of the module', () => {
  expect(filesUrl('https://github.com/acme/all', 'vpc/v1.2.0', 'modules/a b')).toBe(
    'https://github.com/acme/all/blob/vpc/v1.2.0/modules/a%20b/',
  )
})

it.each([
  ['of another host', 'https://git.acme.com/a/b', 'v1'],
  ['that names such a host', 'https://acme.com/github.com/b', 'v1'],
  ['without https', 'git@github.com:acme/b', 'v1'],
  ['with a script', 'javascript:alert(1)//github.com', 'v1'],
  ['without a tag', 'https://github.com/a/b', undefined],
])('has no link for a repository %s', (_what, repoUrl, tag) => {
  expect(filesUrl(repoUrl, tag)).toBeUndefined()
})
