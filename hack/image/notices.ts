import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SpdxPackage } from './packages.ts'
import type { GoModule, NodeBinary, SystemPackage } from './system-packages.ts'

/*
 * NOTICES: the licence texts of all packages in the image. A text that several packages share is printed once, below all
 * of their names.
 */

const isNotice = (name: string): boolean => /^(licen[cs]e|copying|notice)/i.test(name)

function textOf(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder).filter(isNotice).toSorted() : []
  return names
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n')
}

/** @param root the folder with `node_modules`. */
export function notices(
  root: string,
  packages: readonly SpdxPackage[],
  {
    system,
    modules,
    node,
  }: {
    readonly system: readonly SystemPackage[]
    readonly modules: readonly GoModule[]
    readonly node: NodeBinary
  },
): string {
  const titlesByText = new Map<string, string[]>()
  for (const { name, versionInfo, licenseDeclared, packageFileName } of packages) {
    const text = textOf(join(root, packageFileName)) || `License: ${licenseDeclared}`
    const titles = titlesByText.get(text) ?? []
    titles.push(`${name} ${versionInfo} (${licenseDeclared})`)
    titlesByText.set(text, titles)
  }
  const sections = [...titlesByText].map(([text, titles]) => `${titles.join('\n')}\n\n${text}\n`)
  const systemList = system.map(({ name, version }) => `${name} ${version}\n`).join('')
  const moduleList = modules.map(({ name, version }) => `${name} ${version}\n`).join('')
  const trivy =
    modules.length === 0
      ? ''
      : `\nGo modules of Trivy; their licences are in /usr/share/doc/trivy.\n\n${moduleList}`
  const line = `\n${'-'.repeat(80)}\n\n`
  return `Depot contains the following packages of the npm registry.${line}${sections.join(line)}${line}Packages of the base image; their licences are in /usr/share/doc/NAME/copyright.\n\n${systemList}Node.js ${node.version}: see https://github.com/nodejs/node/blob/v${node.version}/LICENSE\n${trivy}`
}
