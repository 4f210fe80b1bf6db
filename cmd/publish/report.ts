import { changeGroups, oneLine, subjectOf } from '../../pkg/api/changes/changes.ts'
import { docsProblems, plainText, problemText } from '../../pkg/archives/docs/docs.ts'
import type { ProviderPublication, Publication } from '../../pkg/fill/publishing/publishing.ts'

export type PublishOutcome = 'published' | 'exists' | 'planned' | 'refused'

const shownFiles = 20

/** Describes a publication to people. */
export function asText(publication: Publication): string {
  const { target, archive, files, fileName, comparison } = publication
  const { namespace, name, system } = target.address
  const shown = files.slice(0, shownFiles).map(({ path, sizeBytes }) => `  ${path} (${sizeBytes})`)
  const more = files.length > shownFiles ? [`  and ${files.length - shownFiles} more`] : []
  const lines = [
    `${namespace}/${name}/${system} ${target.version}${target.isMissing ? ', a new module' : ''}`,
    `files: ${files.length}`,
    ...shown,
    ...more,
    `archive: ${fileName}, ${archive.sizeBytes} bytes`,
    `sha256: ${archive.sha256}`,
    `content: ${archive.contentDigest}`,
    `interface: ${interfaceOf(publication)}`,
    comparedWith(publication),
    ...changeGroups(comparison?.changes ?? []).flatMap(([heading, group]) => [
      `${heading}:`,
      ...group.map((change) => `  ${subjectOf(change)}: ${oneLine(change.why)}`),
    ]),
  ]
  return plainText(`${lines.join('\n')}\n`)
}

function comparedWith({ comparison, uncompared }: Publication): string {
  if (comparison !== undefined) return `compared: with ${comparison.from}, ${comparison.verdict}`
  if (uncompared === undefined) return 'compared: with no earlier version'
  return `compared: with nothing, ${uncompared.from} cannot be read: ${oneLine(uncompared.message)}`
}

/** Problems of the files are part of it: what cannot be parsed is missing in the documentation. */
function interfaceOf({ interface: docs }: Publication): string {
  const { root, submodules } = docs
  const required = root.inputs.filter((input) => input.required).length
  const parts = [
    `${root.inputs.length} inputs (${required} required)`,
    `${root.outputs.length} outputs`,
    `${root.resources.length} resources`,
    `${submodules.length} submodules`,
    ...docsProblems(docs).map((problem) => `incomplete: ${problemText(problem)}`),
  ]
  return oneLine(parts.join(', '))
}

/** The same for scripts. */
export function asJson(publication: Publication, outcome: PublishOutcome): string {
  const { target, archive, files, fileName, comparison, uncompared, refusals, docs } = publication
  const { sha256, sizeBytes, contentDigest, leftOut } = archive
  const result = {
    schema: 1,
    outcome,
    address: target.address,
    version: target.version,
    newModule: target.isMissing,
    archive: { fileName, sha256, sizeBytes, contentDigest, leftOut },
    docs: { sha256: docs.sha256, sizeBytes: docs.sizeBytes },
    files,
    comparison,
    uncompared,
    refusals: refusals.map(({ reason, message }) => ({ reason, message })),
  }
  return plainText(`${JSON.stringify(result, null, 2)}\n`)
}

/** Describes the release of a provider to people. */
export function providerText({ target, archives, signer }: ProviderPublication): string {
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

/** The same for scripts. */
export function providerJson(
  { target, archives, signer, refusals }: ProviderPublication,
  outcome: PublishOutcome,
): string {
  const result = {
    schema: 1,
    outcome,
    address: target.address,
    version: target.version,
    newProvider: target.isMissing,
    signer,
    archives: archives.map(({ platform, fileName, file, isThere }) => {
      const { sha256, sizeBytes } = file
      return { ...platform, fileName, sha256, sizeBytes, published: isThere }
    }),
    refusals: refusals.map(({ reason, message }) => ({ reason, message })),
  }
  return plainText(`${JSON.stringify(result, null, 2)}\n`)
}
