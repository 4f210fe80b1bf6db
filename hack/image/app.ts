import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { notices } from './notices.ts'
import type { SpdxPackage } from './packages.ts'
import { sbom } from './sbom.ts'
import { goModules, nodeOf, systemPackages } from './system-packages.ts'

/*
 * Lists the content of the folder /app of an image: `node hack/image/app.ts FOLDER PACKAGES RUNTIME`. PACKAGES is the list
 * of program.ts. RUNTIME has Node and the lists of Debian packages and Go modules as the runtime base has them. The time of
 * the commit comes from SOURCE_DATE_EPOCH.
 */

const repository = resolve(import.meta.dirname, '../..')
const [folder, list, runtime] = process.argv.slice(2)
if (folder === undefined || list === undefined || runtime === undefined) {
  console.error('usage: node hack/image/app.ts FOLDER PACKAGES RUNTIME')
  process.exit(2)
}

const packages = JSON.parse(readFileSync(list, 'utf8')) as SpdxPackage[]
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
