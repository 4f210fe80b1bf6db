import { existsSync } from 'node:fs'
import {
  changeGroups,
  changeText,
  comparisonMarkdown,
  oneLine,
} from '../../pkg/api/changes/changes.ts'
import type { InterfaceChange, ModuleComparison, ModuleDocs } from '../../pkg/api/docs/docs.ts'
import { compareModules } from '../../pkg/archives/compare/compare.ts'
import { plainText } from '../../pkg/archives/docs/docs.ts'
import {
  type CompareCommandOptions,
  mistakeIn,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import {
  localDocs,
  openRegistry,
  type Registry,
  type RegistryVersion,
  registryModule,
  usersOf,
  usersText,
  type VersionUsers,
} from '../registry/registry.ts'

const statuses = { compatible: 0, breaking: 1, unknown: 2 }

/**
 * Prints what changed between two versions of a module.
 *
 * @returns the exit status by the verdict
 * @throws OptionsError if a version cannot be read
 */
export async function compare(
  options: CompareCommandOptions,
  operands: readonly string[],
): Promise<number> {
  const pair = pairOf(operands)
  const hosts = pair.flatMap((operand) => registryModule(operand)?.host ?? [])
  await using registry = hosts.length > 0 ? await openRegistry(options, hosts) : undefined
  const from = await opened(pair[0], registry)
  const to = await opened(pair[1], registry)
  const compared = compareModules(from.docs, to.docs, { from: from.name, to: to.name })
  const users = from.version && registry && (await usersOf(registry, from.version))
  const print = { text: asText, markdown: asMarkdown, json: asJson }[options.output]
  stdout.write(print(compared, users))
  return statuses[compared.verdict]
}

/** An address before two versions applies to both. */
function pairOf(operands: readonly string[]): readonly [from: string, to: string] {
  const [first = '', second, third, ...others] = operands
  if (second === undefined || others.length > 0) {
    throw new OptionsError([
      'write two folders, archives or HOST/NAMESPACE/NAME/SYSTEM with or without @VERSION: depot compare FROM TO; or one address and two versions: depot compare HOST/NAMESPACE/NAME/SYSTEM FROM TO',
    ])
  }
  if (third === undefined && isVersion(second) && registryModule(first) !== undefined) {
    throw new OptionsError([
      `${second} is a version without address: write ${first} FROM ${second}, or ${first}@${second} and a folder`,
    ])
  }
  if (third === undefined) return [first, second]
  const [from, to] = [`${first}@${second}`, `${first}@${third}`]
  if (registryModule(from) !== undefined) return [from, to]
  throw new OptionsError([
    `${JSON.stringify(first)} is not the address of a module: write HOST/NAMESPACE/NAME/SYSTEM before two versions`,
  ])
}

const isVersion = (operand: string): boolean =>
  /^v?\d+\.\d+\.\d+/.test(operand) && !existsSync(operand)

interface Opened {
  readonly name: string
  readonly docs: ModuleDocs
  /** Undefined for a folder or an archive. */
  readonly version?: RegistryVersion
}

async function opened(operand: string, registry: Registry | undefined): Promise<Opened> {
  const address = registryModule(operand)
  if (address === undefined || registry === undefined) {
    return { name: operand, docs: await localDocs(operand) }
  }
  const version = await registry.versionOf(address).catch(mistakeIn(operand))
  const docs = await registry.docsOf(version).catch(mistakeIn(operand))
  const name = address.version === undefined ? `${operand}@${version.version}` : operand
  return { name, docs, version }
}

const asJson = (compared: ModuleComparison, usedBy: VersionUsers | undefined): string =>
  plainText(`${JSON.stringify({ ...compared, usedBy }, null, 2)}\n`)

const asMarkdown = (compared: ModuleComparison, users: VersionUsers | undefined): string =>
  comparisonMarkdown(compared, users && usersText(users))

function asText(
  { changes, from, to, readme }: ModuleComparison,
  users: VersionUsers | undefined,
): string {
  const lines = changeGroups(changes).flatMap(([heading, group]) => [
    `${heading}:`,
    ...group.map((change) => `  ${changeText(change)}${textsOf(change)}`),
  ])
  const none = [`No change of the interface from ${from} to ${to}.`]
  const text = [
    ...(lines.length > 0 ? lines : none),
    ...(readme === 'same' ? [] : ['The README changed.']),
    ...(users === undefined ? [] : [oneLine(usersText(users))]),
  ]
  return plainText(`${text.join('\n')}\n`)
}

function textsOf({ before, after }: InterfaceChange): string {
  if (before === undefined || after === undefined) return ''
  return ` (${oneLine(before)} -> ${oneLine(after)})`
}
