import { join } from 'node:path'
import { expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { nodeOptions } from '../../pkg/base/fast/fast.ts'
import { kind, must } from './cluster.fixture.ts'

/* The contents of the image that the other tests run. */

const repository = join(import.meta.dirname, '../..')
const hack = (name: string): string => join(repository, 'hack/image', name)
const fileOf = (path: string): Promise<string> => must(hack('file'), [kind.image.archive, path])

/** The layers and the settings that a container gets. The rest of an image says when its steps ran. */
async function configOf(archive: string): Promise<{ config: object; rootfs: object }> {
  const manifest = await must('tar', ['-xOf', archive, 'manifest.json'])
  const [image] = JSON.parse(manifest) as { Config: string }[]
  const text = await must('tar', ['-xOf', archive, image?.Config ?? ''])
  const { config, rootfs } = JSON.parse(text) as { config: object; rootfs: object }
  return { config, rootfs }
}

it('the images are within their size limits', async () => {
  const { archive, gitArchive, scanningArchive } = kind.image
  const size = await must(process.execPath, [hack('size.ts'), archive, gitArchive, scanningArchive])
  expect(size.match(/MiB compressed/g)).toHaveLength(3)
})

it('names the user, the source and the licence of the image', async () => {
  const { config } = await configOf(kind.image.archive)
  expect(config).toMatchObject({
    User: '65532:65532',
    Entrypoint: ['/nodejs/bin/node', ...nodeOptions, '/app/depot.mjs'],
    Cmd: ['server'],
    Labels: {
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
      'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'org.opencontainers.image.source': 'https://git.example.com/depot',
    },
  })
  expect(JSON.stringify(config)).not.toContain('buildah')
})

it('the bill of materials lists the packages of the bundle and of the system', async () => {
  const { packages } = JSON.parse(await fileOf('app/sbom.spdx.json')) as {
    packages: { name: string; externalRefs?: { referenceLocator: string }[] }[]
  }
  const names = packages.map(({ name }) => name)
  const bundled = Object.keys(packageJson.dependencies)
  expect(bundled).toEqual(expect.arrayContaining(['hono', 'yauzl']))
  expect(names).toEqual(expect.arrayContaining([...bundled, 'node', 'libc6', 'ca-certificates']))
  expect(names).not.toContain('vitest')
  expect(names).not.toContain('git')
  const withGit = await must(hack('file'), [kind.image.gitArchive, 'app/sbom.spdx.json'])
  expect(withGit).toContain('pkg:deb/debian/git@')
  const withTrivy = await must(hack('file'), [kind.image.scanningArchive, 'app/sbom.spdx.json'])
  expect(withTrivy).toContain('pkg:golang/github.com/aquasecurity/trivy@v0.70.0')
  expect(withTrivy).toContain('pkg:deb/debian/util-linux@')
  const notices = await fileOf('app/NOTICES')
  expect(bundled.filter((name) => !notices.includes(`${name} `))).toEqual([])
  expect(await fileOf('app/LICENSE')).toContain('Apache License')
})

it('a build without any cache has the same layers and settings', async () => {
  const archive = join(repository, '.depot/image/again.tar')
  const environment = { ...kind.image.settings, ARCHIVE: archive, NO_CACHE: 'true' }
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  await must('env', [...settings, hack('image')], '', 280_000)
  expect(await configOf(archive)).toEqual(await configOf(kind.image.archive))
}, 300_000)
