import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildSamples } from '../hack/samples.ts'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { zipOf } from '../hack/testbed/registry/archives.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'

/*
 * Clients that request more than Terraform does: terraform-ls with its own client, and Dependabot by the fields that its
 * client reads.
 */

const run = promisify(execFile)
const terraformLs = findForTests('terraform-ls-client', () => toolPath('terraform-ls-client'))
const registry = new Registry()
let server: Server

beforeAll(async () => {
  await registry.sign()
  await buildSamples(registry.archives)
  const hello = readFileSync('config/samples/hello.yaml', 'utf8')
  const sourceRepository =
    '  providerConfig:\n    sourceRepository: https://github.com/acme/hello\n'
  registry.writeText('hello.yaml', hello.replace('  providerConfig:\n', sourceRepository))
  registry.write('vpc.yaml', [
    {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Module',
      metadata: { name: 'vpc', namespace: 'platform' },
      spec: { moduleConfig: { provider: 'aws', repoUrl: 'https://github.com/acme/vpc' } },
    },
  ])
  for (const version of ['1.0.0', '1.1.0']) await putModule(version)
  const { manifests, archives, dir } = registry
  const flags = [
    '--manifests',
    manifests,
    '--archives',
    archives,
    '--spool-dir',
    join(dir, 'spool'),
  ]
  await run(process.execPath, [...depotArguments('import'), ...flags, join(dir, 'import')])
  server = await startServer(registry)
})
afterAll(async () => {
  await server?.stop()
  registry.remove()
})

async function putModule(version: string): Promise<void> {
  const files = {
    'main.tf': `variable "cidr" {
  type        = string
  description = "Range of ${version}."
}
variable "tags" {
  type    = map(string)
  default = { team = "\${network}" }
}
variable "azs" {}
output "id" {
  value = 1
}
`,
    'modules/subnet/main.tf': 'variable "zone" {\n  type    = string\n  default = null\n}\n',
  }
  const entries = Object.entries(files).map(([path, text]) => ({
    path,
    content: Buffer.from(text),
  }))
  const folder = join(registry.dir, 'import/platform/vpc/aws')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${version}.zip`), await zipOf(entries))
}

it.skipIf(terraformLs === undefined)(
  'terraform-ls decodes the inputs and outputs of the newest matching version',
  async () => {
    const asked = [server.url, 'registry.terraform.io/platform/vpc/aws', '~> 1.0']
    const { stdout } = await run(terraformLs ?? '', asked)
    expect(JSON.parse(stdout)).toEqual({
      version: '1.1.0',
      published_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      root: {
        inputs: [
          {
            name: 'cidr',
            type: 'string',
            description: 'Range of 1.1.0.',
            default: '',
            required: true,
          },
          {
            name: 'tags',
            type: 'map(string)',
            description: '',
            default: '{"team":"${network}"}',
            required: false,
          },
          { name: 'azs', type: 'any', description: '', default: '', required: true },
        ],
        outputs: [{ name: 'id', description: '' }],
      },
      submodules: [
        {
          path: 'modules/subnet',
          inputs: [
            { name: 'zone', type: 'string', description: '', default: 'null', required: false },
          ],
          outputs: [],
        },
      ],
    })
  },
)

/** Reads a field as Dependabot does: a missing one ends the update. */
function fetchField(value: unknown, name: string): unknown {
  if (!Object.hasOwn(value as object, name)) throw new Error(`key not found: ${name}`)
  return (value as Record<string, unknown>)[name]
}

it('Dependabot finds versions and changelogs of modules and providers', async () => {
  const json = async (url: URL): Promise<unknown> => {
    const response = await fetch(url)
    expect(response.status).toBe(200)
    return response.json()
  }
  const services = await json(new URL('/.well-known/terraform.json', server.url))
  const urlOf = (service: string, path: string) =>
    new URL(path, new URL(String(fetchField(services, service)), server.url))
  const numbersOf = (releases: unknown) =>
    (releases as unknown[]).map((release) => fetchField(release, 'version'))

  const module = 'platform/vpc/aws'
  const [first] = fetchField(
    await json(urlOf('modules.v1', `${module}/versions`)),
    'modules',
  ) as unknown[]
  expect(numbersOf(fetchField(first, 'versions'))).toEqual(['1.1.0', '1.0.0'])
  const ofModule = await json(urlOf('modules.v1', `${module}/1.1.0`))
  expect(fetchField(ofModule, 'source')).toBe('https://github.com/acme/vpc')

  const provider = 'platform/hello'
  const versions = await json(urlOf('providers.v1', `${provider}/versions`))
  const numbers = numbersOf(fetchField(versions, 'versions'))
  expect(numbers).toContain('1.1.0')
  const ofProvider = await json(urlOf('providers.v1', `${provider}/1.1.0`))
  expect(fetchField(ofProvider, 'source')).toBe('https://github.com/acme/hello')
})
