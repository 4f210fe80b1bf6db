import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from './bundle.ts'
import { refusedLicenses } from './licenses.ts'
import { packagesOfImage } from './packages.ts'
import { bundlePage } from './page.ts'

/*
 * The part of the folder /app that every image has: `node hack/image/program.ts FOLDER PACKAGES`. It has the program and the
 * page. PACKAGES is the JSON file that gets the list of the packages in them.
 */

const [folder, list] = process.argv.slice(2)
if (folder === undefined || list === undefined) {
  console.error('usage: node hack/image/program.ts FOLDER PACKAGES')
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
writeFileSync(list, JSON.stringify(packages))
