import * as z from 'zod'
import type { ResourceDetail } from '../../api/browse/browse.ts'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { notFound } from '../../base/errors/errors.ts'
import type { RequestFacts } from '../../base/telemetry/telemetry.ts'
import { partsOf, type Questions, requireVersion } from '../browse/browse.ts'
import type { Catalog, View } from '../catalog/catalog.ts'
import { type Part, type ToolAnswer, textOf } from './page.ts'

/** The sources of an answer, and the caller. */
export interface ToolAsked {
  readonly catalog: Catalog
  readonly questions: Questions
  readonly view: View
  /** Host of this registry in addresses. */
  readonly host: string
  /** Receives the subject for the access log. */
  readonly noted: (subject: RequestFacts) => void
}

type Input<I extends z.ZodObject> = z.output<I> & { readonly cursor: number }

/** A question that agents can ask. */
export interface McpTool<I extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: I
  answer(input: Input<I>, asked: ToolAsked): Promise<ToolAnswer>
}

/** Checks a tool, and erases the types of its input so that all tools fit into one list. */
export const tool = <I extends z.ZodObject>(definition: McpTool<I>): McpTool => definition

export const word = (description: string) =>
  z
    .string('must be a text')
    .min(1, 'must not be empty')
    .max(512, 'is too long')
    .describe(description)

export const moduleAddress = word(
  'Address of the module: namespace/name/system, with or without the host in front.',
)
export const version = word('Version. Default: the latest.').optional()

/** A module or provider that the caller may see. */
export interface Subject {
  readonly path: Readonly<Record<'namespace' | 'kind' | 'name', string>>
  /** The requested version, in its own spelling. */
  readonly version: string | undefined
  readonly latestVersion: string | undefined
  /** The folder that follows `//` in an address. */
  readonly folder: string | undefined
}

const names = { Module: 'module', Provider: 'provider' } as const

/** @throws RegistryError NotFound with the same message whether it does not exist or the caller may not see it */
export function subjectOf(
  { catalog, view, noted }: ToolAsked,
  kinds: readonly ParentKind[],
  address: string,
  wanted?: string,
): Subject {
  const [at = '', folder] = address.split('//')
  const [namespace = '', name = '', system, ...rest] = partsOf(at)
  for (const kind of rest.length === 0 ? kinds : []) {
    if (kind === 'Provider' && system !== undefined) continue
    const parent = catalog.parentAt(kind, namespace, name, system)
    const entry = parent && catalog.model.find(view, kind, namespace, parent.name)
    if (parent === undefined || entry === undefined) continue
    noted({ namespace, kind, name: parent.name })
    return {
      path: { namespace, kind: names[kind], name: parent.name },
      version: wanted === undefined ? undefined : requireVersion(parent, wanted),
      latestVersion: entry.summary.latestVersion,
      folder,
    }
  }
  const spelled = system === undefined ? 'Provider' : 'Module'
  const kind = kinds.find((one) => one === spelled) ?? kinds[0] ?? spelled
  throw notFound(
    `${names[kind]} ${address} not found, or you may not see it: search_${names[kind]}s finds those that you may see`,
  )
}

/** Facts that modules and providers have in common. */
export const factsOf = (detail: ResourceDetail, host: string) => ({
  address: `${detail.namespace}/${detail.address}`,
  source: `${host}/${detail.namespace}/${detail.address}`,
  version: detail.selectedVersion,
  lifecycle: detail.lifecycle,
  latestVersion: detail.latestVersion,
  versionCount: detail.versions.length,
  synced: detail.synced,
  reason: detail.reason,
  message: detail.message,
  repoUrl: detail.repoUrl,
  scanCounts: detail.scanCounts,
  totalDownloads: detail.totalDownloads,
})

/** The block that uses a version, unless nobody may use that version. */
export const usageOf = ({ lifecycle }: ResourceDetail, block: string): Part[] =>
  lifecycle?.state === 'Quarantined' ? [] : textOf('usage', block)
