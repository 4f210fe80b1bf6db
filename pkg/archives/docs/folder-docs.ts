import type { FolderDocs, InputDocs, ProviderRequirement } from '../../api/docs/docs.ts'
import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import {
  type Block,
  type BlockType,
  type Body,
  blocksOf,
  expressionText,
  hasInfinity,
  headerOrder,
  isDeep,
  isFalse,
  isTrue,
  nested,
  type ParsedFile,
  textOrNothing,
  unescaped,
} from './blocks.ts'

/** A file that was parsed. */
export interface ParsedSource {
  /** Path below the root of the module. */
  readonly path: string
  readonly parsed: ParsedFile
  /** Text of a file in the native syntax; undefined for JSON. */
  readonly text: string | undefined
  readonly isOverride: boolean
}

type Lists = Pick<
  FolderDocs,
  'requiredVersion' | 'inputs' | 'outputs' | 'providers' | 'resources' | 'modules' | 'refactorings'
>

/**
 * Joins the files of a folder as Terraform does: attributes of override files replace those of the block that they name.
 *
 * @param report is called with each mistake that makes the lists differ from those of the CLIs
 */
export function listsOf(
  sources: readonly ParsedSource[],
  report: (problem: string) => void,
): Lists {
  const files = sources.map(({ parsed, text, isOverride }) => {
    const order = headerOrder(text ?? '')
    const blocks = (type: BlockType) => {
      const found = blocksOf(parsed, type, order)
      return text === undefined ? found : found.map(unescapedBlock)
    }
    return { isOverride, blocks }
  })
  const all = (type: BlockType, isOverride = false): Block[] =>
    files.filter((file) => file.isOverride === isOverride).flatMap((file) => file.blocks(type))
  const merged = (type: 'variable' | 'output' | 'module') =>
    withOverrides(type, all(type), all(type, true), report)
  const settings = [false, true].map((isOverride) => all('terraform', isOverride).map(bodyOf))
  const [versions = [], overridden = []] = settings.map((bodies) =>
    bodies.flatMap(({ required_version: version }) => textOrNothing(version) ?? []),
  )
  const requiredVersion = (overridden.length > 0 ? overridden : versions).join(', ')
  return {
    ...(requiredVersion !== '' && { requiredVersion }),
    inputs: merged('variable').map((variable) => inputOf(variable, report)),
    outputs: merged('output').map(({ name, body }) => ({
      name,
      ...described(body),
      sensitive: isTrue(body['sensitive']),
      ephemeral: isTrue(body['ephemeral']),
      ...optional('deprecated', textOrNothing(body['deprecated'])),
    })),
    providers: providersOf(settings.flat(), all('provider')),
    resources: [
      ...all('resource').map((block) => resourceOf('managed', block)),
      ...all('data').map((block) => resourceOf('data', block)),
      ...all('ephemeral').map((block) => resourceOf('ephemeral', block)),
    ],
    modules: merged('module').map(({ name, body }) => ({
      name,
      ...optional('source', textOrNothing(body['source'])),
      ...optional('version', textOrNothing(body['version'])),
    })),
    refactorings: [...all('moved'), ...all('removed')].flatMap(({ body }) => {
      const from = expressionText(body['from'])
      return from === undefined ? [] : [{ from, ...optional('to', expressionText(body['to'])) }]
    }),
  }
}

const bodyOf = ({ body }: Block): Body => body

/** The reason if JSON cannot represent a value of the parser. */
function valueProblem(value: unknown): string | undefined {
  if (isDeep(value)) return 'is nested too deeply'
  return hasInfinity(value) ? 'has a number that is too large' : undefined
}

/** Copies values, except deeply nested ones, which are reported elsewhere. */
const unescapedBlock = ({ labels, body }: Block): Block => ({
  labels,
  body: Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, isDeep(value) ? value : unescaped(value)]),
  ),
})

interface Named {
  readonly name: string
  readonly body: Body
}

function withOverrides(
  type: string,
  blocks: readonly Block[],
  overrides: readonly Block[],
  report: (problem: string) => void,
): Named[] {
  const named = new Map<string, Named>()
  for (const { labels, body } of blocks) {
    const [name = ''] = labels
    if (named.has(name)) report(`${type} "${name}" is declared twice`)
    else named.set(name, { name, body })
  }
  for (const { labels, body } of overrides) {
    const [name = ''] = labels
    const base = named.get(name)
    if (base === undefined)
      report(`an override file changes ${type} "${name}", which no file declares`)
    // Terraform keeps the validations of the original block.
    else
      named.set(name, {
        name,
        body: { ...base.body, ...body, validation: base.body['validation'] },
      })
  }
  return [...named.values()]
}

function inputOf({ name, body }: Named, report: (problem: string) => void): InputDocs {
  const hasDefault = Object.hasOwn(body, 'default')
  const problem = hasDefault ? valueProblem(body['default']) : undefined
  if (problem !== undefined) report(`the default of variable "${name}" ${problem}`)
  return {
    name,
    ...optional('type', expressionText(body['type'])),
    ...described(body),
    ...(hasDefault &&
      problem === undefined && { default: body['default'] as InputDocs['default'] }),
    required: !hasDefault,
    sensitive: isTrue(body['sensitive']),
    nullable: !isFalse(body['nullable']),
    ephemeral: isTrue(body['ephemeral']),
    ...optional('deprecated', textOrNothing(body['deprecated'])),
    validations: nested(body['validation']).map((validation) => ({
      message: textOrNothing(validation['error_message']) ?? '',
    })),
  }
}

/** Merges requirements of `terraform` blocks, later ones replacing earlier ones, and the older form in `provider` blocks. */
function providersOf(settings: readonly Body[], configurations: readonly Block[]) {
  const providers = new Map<string, ProviderRequirement>()
  for (const { required_providers: required } of settings) {
    for (const [name, value] of nested(required).flatMap((body) => Object.entries(body))) {
      if (name !== '//') providers.set(name, requirementOf(name, value))
    }
  }
  for (const { labels, body } of configurations) {
    const [name = ''] = labels
    const version = textOrNothing(body['version'])
    if (version === undefined) continue
    const { version: before, ...known } = providers.get(name) ?? { name, aliases: [] }
    providers.set(name, { ...known, version: [before ?? [], version].flat().join(', ') })
  }
  return [...providers.values()]
}

function requirementOf(name: string, value: unknown): ProviderRequirement {
  if (!isRecord(value)) return { name, ...optional('version', textOrNothing(value)), aliases: [] }
  const { source, version, configuration_aliases: aliases } = value
  return {
    name,
    ...optional('source', textOrNothing(source)),
    ...optional('version', textOrNothing(version)),
    aliases: Array.isArray(aliases) ? aliases.flatMap((alias) => expressionText(alias) ?? []) : [],
  }
}

const resourceOf = (mode: 'managed' | 'data' | 'ephemeral', { labels }: Block) => {
  const [type = '', name = ''] = labels
  return { mode, type, name }
}

const described = (body: Body) => optional('description', textOrNothing(body['description']))

const optional = <Key extends string>(key: Key, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as Partial<Record<Key, string>>
