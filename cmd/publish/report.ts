import { changeGroups, changeText, oneLine } from '../../pkg/api/changes/changes.ts'
import { docsProblems, plainText, problemText } from '../../pkg/archives/docs/docs.ts'
import type { PublishCommandOptions } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import type {
  ComparedVersion,
  PackedModule,
  Publication,
  ReleaseArchive,
} from '../../pkg/fill/publishing/publishing.ts'
import { usersText, type VersionUsers } from '../registry/registry.ts'

export type PublishOutcome = 'published' | 'exists' | 'planned' | 'refused'

/** The part of the target that is printed. */
type ShownTarget = Pick<Publication['target'], 'address' | 'version'> & {
  /** Undefined if it is unknown. */
  readonly isMissing?: boolean
}

/** The result of comparing a module with the previous version. */
export interface ShownComparison extends Omit<ComparedVersion, 'uncompared'> {
  /** Undefined if no earlier version is known. */
  readonly uncompared: { readonly from?: string; readonly message: string } | undefined
  /** Consumers of the previous version. Undefined if the registry does not tell. */
  readonly usedBy?: VersionUsers | undefined
}

/** The end of a publication, for people and scripts. */
export interface PublishEnd {
  readonly outcome: PublishOutcome
  readonly text: string
}

interface PublishWork {
  /** Description of the plan for people. */
  readonly shown: string
  readonly json: (outcome: PublishOutcome) => string
  readonly refusals: readonly { readonly message: string }[]
  /** The last line of a dry run. */
  readonly planned: string
  readonly run: () => Promise<PublishEnd>
}

/** Prints what would be published, and publishes it unless something prevents that. @returns the exit status */
export async function finish(
  { output, dryRun }: Pick<PublishCommandOptions, 'output' | 'dryRun'>,
  { shown, json, refusals, planned, run }: PublishWork,
): Promise<number> {
  const end = ({ outcome, text }: PublishEnd) => {
    stdout.write(output === 'json' ? json(outcome) : plainText(`${text}\n`))
    return outcome === 'refused' ? 1 : 0
  }
  if (output === 'text') stdout.write(shown)
  for (const { message } of refusals) process.stderr.write(`depot: ${message}\n`)
  if (refusals.length > 0) return end({ outcome: 'refused', text: 'refused: nothing was written' })
  return end(dryRun ? { outcome: 'planned', text: planned } : await run())
}

interface ShownModule extends PackedModule, ShownComparison {
  readonly target: ShownTarget
  /** Undefined if the registry names it. */
  readonly fileName?: string
}

interface ShownRelease {
  readonly target: ShownTarget
  readonly archives: readonly (ReleaseArchive & { readonly isThere?: boolean })[]
  readonly signer: string | undefined
  readonly refusals: PackedModule['refusals']
}

const shownFiles = 20

/** Describes a publication to people. */
export function asText(publication: ShownModule): string {
  const { target, archive, files, fileName, comparison, usedBy } = publication
  const { namespace, name, system } = target.address
  const shown = files.slice(0, shownFiles).map(({ path, sizeBytes }) => `  ${path} (${sizeBytes})`)
  const more = files.length > shownFiles ? [`  and ${files.length - shownFiles} more`] : []
  const lines = [
    `${namespace}/${name}/${system} ${target.version}${target.isMissing ? ', a new module' : ''}`,
    `files: ${files.length}`,
    ...shown,
    ...more,
    `archive: ${fileName === undefined ? '' : `${fileName}, `}${archive.sizeBytes} bytes`,
    `sha256: ${archive.sha256}`,
    `content: ${archive.contentDigest}`,
    `interface: ${interfaceOf(publication)}`,
    comparedWith(publication),
    ...changeGroups(comparison?.changes ?? []).flatMap(([heading, group]) => [
      `${heading}:`,
      ...group.map((change) => `  ${changeText(change)}`),
    ]),
    ...(usedBy === undefined ? [] : [`used by: ${oneLine(usersText(usedBy))}`]),
  ]
  return plainText(`${lines.join('\n')}\n`)
}

function comparedWith({ comparison, uncompared }: ShownComparison): string {
  if (comparison !== undefined) return `compared: with ${comparison.from}, ${comparison.verdict}`
  if (uncompared === undefined) return 'compared: with no earlier version'
  const { from, message } = uncompared
  if (from === undefined) return `not compared: ${message}`
  return `compared: with nothing, ${from} cannot be read: ${oneLine(message)}`
}

/** Also lists problems of the files, because the documentation lacks what cannot be parsed. */
function interfaceOf({ interface: docs }: PackedModule): string {
  const { root, submodules } = docs
  const required = root.inputs.filter((input) => input.required).length
  const parts = [
    `${counted(root.inputs, 'input')} (${required} required)`,
    counted(root.outputs, 'output'),
    counted(root.resources, 'resource'),
    counted(submodules, 'submodule'),
    ...docsProblems(docs).map((problem) => `incomplete: ${problemText(problem)}`),
  ]
  return oneLine(parts.join(', '))
}

const counted = ({ length }: readonly unknown[], word: string): string =>
  `${length} ${word}${length === 1 ? '' : 's'}`

/** Describes a publication as JSON, for scripts. */
export function asJson(publication: ShownModule, outcome: PublishOutcome, host?: string): string {
  const { target, archive, files, fileName, comparison, uncompared, usedBy, docs } = publication
  const { sha256, sizeBytes, contentDigest, leftOut } = archive
  return jsonOf(publication, outcome, host, {
    newModule: target.isMissing,
    archive: { fileName, sha256, sizeBytes, contentDigest, leftOut },
    docs: { sha256: docs.sha256, sizeBytes: docs.sizeBytes },
    files,
    comparison,
    uncompared,
    usedBy,
  })
}

function jsonOf(
  { target, refusals }: Pick<ShownRelease, 'target' | 'refusals'>,
  outcome: PublishOutcome,
  host: string | undefined,
  facts: object,
): string {
  const result = {
    schema: 1,
    outcome,
    host,
    address: target.address,
    version: target.version,
    ...facts,
    refusals: refusals.map(({ reason, message }) => ({ reason, message })),
  }
  return plainText(`${JSON.stringify(result, null, 2)}\n`)
}

/** Warns of a version that breaks callers although its number promises that it does not. */
export const brokenWarning = ({ target, comparison }: ShownModule): string =>
  plainText(
    `depot: warning: ${target.version} breaks callers of ${comparison?.from}; publish it as a new major version\n`,
  )

/** Describes the release of a provider to people. */
export function providerText({ target, archives, signer }: ShownRelease): string {
  const { namespace, name } = target.address
  const platforms = archives.map(({ platform, file, isThere }) => {
    const { os, arch } = platform
    return `  ${os}_${arch}: ${file.sizeBytes} bytes, sha256 ${file.sha256}${isThere ? ', published' : ''}`
  })
  const lines = [
    `${namespace}/${name} ${target.version}${target.isMissing ? ', a new provider' : ''}`,
    `platforms: ${archives.length}`,
    ...platforms,
    ...(signer === undefined ? [] : [`signed: by ${signer}`]),
  ]
  return plainText(`${lines.join('\n')}\n`)
}

/** Describes the release as JSON, for scripts. */
export function providerJson(
  release: ShownRelease,
  outcome: PublishOutcome,
  host?: string,
): string {
  const archives = release.archives.map(({ platform, fileName, file, isThere }) => {
    const { sha256, sizeBytes } = file
    return { ...platform, fileName, sha256, sizeBytes, published: isThere }
  })
  const { target, signer } = release
  return jsonOf(release, outcome, host, { newProvider: target.isMissing, signer, archives })
}
