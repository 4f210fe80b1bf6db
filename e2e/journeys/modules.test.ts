import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { entriesIn, zipOf } from '../../hack/testbed/registry/archives.ts'
import { flipped, moduleObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'

const samples = join(import.meta.dirname, '../../config/samples')
const registry = new Registry()
let server: Server

beforeAll(async () => {
  await writeSamples(registry, ['namespaces.yaml', 'network.yaml', 'labels.yaml'])
  server = await startServer(registry)
  return server.stop
})
afterAll(() => registry.remove())

const network = (version: string, submodule = '') => `
  module "it" {
    source = "depot.test/platform/network/aws${submodule}"
    ${version === '' ? '' : `version = "${version}"`}
    cidr   = "10.1.0.0/16"
    ${submodule === '' ? '' : 'number = 3'}
  }
  output "it" { value = module.it }`

const labels = (version: string) => `
  module "it" {
    source = "depot.test/payments/labels/generic"
    ${version === '' ? '' : `version = "${version}"`}
    team   = "Payments"
  }
  output "it" { value = module.it }`

describe.each(clis)('modules, with $name', ({ path, name }) => {
  it.skipIf(path === undefined).each([
    { format: 'zip', configuration: network('1.1.0'), source: 'network/1.1.0' },
    { format: 'tar.gz', configuration: labels('0.2.0'), source: 'labels/0.2.0' },
  ])('a $format archive is unpacked to exactly its sources', async ({ configuration, source }) => {
    const workspace = new Workspace(path, server.url, configuration)
    const { it: outputs } = await workspace.apply()
    expect(outputs).toMatchObject({ release: source.split('/')[1] })
    const installed = workspace.modules()['it']?.dir ?? ''
    expect(entriesIn(installed)).toEqual(entriesIn(join(samples, 'sources', source)))
  })

  it.skipIf(path === undefined)('installs a submodule from its archive', async () => {
    const workspace = new Workspace(path, server.url, network('~> 1.0', '//modules/subnet'))
    expect(await workspace.apply()).toEqual({ it: { cidr: '10.1.3.0/24' } })
    expect(workspace.modules()['it']).toMatchObject({ version: '1.1.0' })
  })

  it.skipIf(path === undefined).each([
    { constraint: '', picks: '2.0.0', of: network },
    { constraint: '~> 1.0', picks: '1.1.0', of: network },
    { constraint: '~> 1.0.0', picks: '1.0.0', of: network },
    { constraint: '>= 1.0, != 2.0.0', picks: '1.1.0', of: network },
    { constraint: '', picks: '0.2.0', of: labels },
    { constraint: '>= 0.1', picks: '0.2.0', of: labels },
    { constraint: '0.1.0', picks: '0.1.0', of: labels },
    { constraint: '1.0.0-rc.1', picks: '1.0.0-rc.1', of: labels },
  ])('$of.name "$constraint" picks $picks', async ({ constraint, picks, of }) => {
    const workspace = new Workspace(path, server.url, of(constraint))
    await workspace.must('get')
    expect(workspace.modules()['it']?.version).toBe(picks)
  })

  it.skipIf(path === undefined)(
    'refuses an archive that changed after its digest was recorded',
    async () => {
      const entries = [{ path: 'main.tf', content: Buffer.from('output "it" {\n  value = 1\n}\n') }]
      const archive = await zipOf(entries)
      const fileName = `pinned-${name}.zip`
      const checksum = createHash('sha256').update(archive).digest('hex')
      registry.archive(`modules/pinned-${name}/${fileName}`, archive)
      const versions = [{ version: '1.0.0', fileName, checksum }]
      registry.write(`pinned-${name}.yaml`, moduleObjects({ name: `pinned-${name}`, versions }))
      const list = `${server.url}/depot/modules/v1/platform/pinned-${name}/aws/versions`
      await expect.poll(() => fetch(list).then(({ status }) => status)).toBe(200)
      const configuration = `module "it" {\n  source = "depot.test/platform/pinned-${name}/aws"\n}`
      await new Workspace(path, server.url, configuration).must('init')

      registry.archive(`modules/pinned-${name}/${fileName}`, flipped(archive))
      const workspace = new Workspace(path, server.url, configuration)
      const { code, output } = await workspace.run('init')
      expect({ code, output }).toMatchObject({
        code: 1,
        output: expect.stringContaining('Failed to download module'),
      })
      expect(workspace.installed()).not.toContain('modules/it/main.tf')
    },
  )
})
