import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { bundleProgram } from './bundle.ts'
import { refusedLicenses } from './licenses.ts'
import { notices } from './notices.ts'
import { packagesOfImage } from './packages.ts'
import { bundlePage } from './page.ts'
import { sbom } from './sbom.ts'
import { goModules, nodeOf, systemPackages } from './system-packages.ts'

/*
 * The folder /app of the image: `node hack/image/app.ts FOLDER RUNTIME`. RUNTIME has Node and the lists of Debian packages and
 * Go modules as the runtime base has them. The time of the commit comes from SOURCE_DATE_EPOCH.
 */

const repository = resolve(import.meta.dirname, '../..')
const [folder, runtime] = process.argv.slice(2)
if (folder === undefined || runtime === undefined) {
  console.error('usage: node hack/image/app.ts FOLDER RUNTIME')
  process.exit(2)
}

mkdirSync(folder, { recursive: true })
const { inputs } = await bundleProgram(folder)
const pageFiles = await bundlePage(join(folder, 'ui'))

const packages = await packagesOfImage([...Object.keys(inputs), ...pageFiles])
const refused = refusedLicenses(
  packages.map(({ name, licenseDeclared }) => ({ name, license: licenseDeclared })),
)
if (refused.length > 0) {
  console.error(refused.map((problem) => `depot: ${problem}`).join('\n'))
  console.error('depot: see hack/image/licenses.ts')
  process.exit(1)
}

const system = systemPackages(join(runtime, 'var/lib/dpkg/status.d'))
const modules = goModules(join(runtime, 'usr/share/doc/trivy/modules'))
const node = nodeOf(join(runtime, 'nodejs/bin/node'))
writeFileSync(join(folder, 'NOTICES'), notices(repository, packages, { system, modules, node }))
writeFileSync(
  join(folder, 'sbom.spdx.json'),
  sbom({
    name: packageJson.name,
    version: packageJson.version,
    epoch: Number(process.env['SOURCE_DATE_EPOCH'] ?? 0),
    packages,
    system,
    modules,
    node,
  }),
)
if (existsSync(join(repository, 'LICENSE')))
  cpSync(join(repository, 'LICENSE'), join(folder, 'LICENSE'))
