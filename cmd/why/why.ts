import { type Depot, normalizeVersion, type Version } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import {
  closest,
  OptionsError,
  type WhyCommandOptions,
  whyCommand,
} from '../../pkg/base/options/options.ts'
import type { Objects, StoredObject } from '../../pkg/records/store/store.ts'
import { explainAddress } from '../explain/explain.ts'
import { openRecords } from '../records/records.ts'
import { configOf, type Story, storyOf } from './story.ts'

const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const
/** Maximum number of Versions without a version in the question, so that the answer stays readable. */
const maxVersions = 5

/**
 * Tells what was asked of upstream for an object, what upstream answered, what was decided, the command that helps, and who
 * serves its address.
 *
 * @throws OptionsError if there is no such object
 */
export async function why(
  options: WhyCommandOptions,
  [address = '', version, ...others]: readonly string[],
): Promise<string> {
  const parts = address.split('/')
  const [namespace = '', name = '', system] = /[.:]/.test(parts[0] ?? '') ? parts.slice(1) : parts
  if (name === '' || others.length > 0) {
    throw new OptionsError([
      `${JSON.stringify(address)}: write NAMESPACE/NAME and at most one version`,
    ])
  }
  await using records = await openRecords(options, [namespace])
  const { objects, folder } = records
  const named = find(objects, namespace, name, system)
  const found = named.length > 0 ? named : depotsAskingFor(objects, namespace, name, system)
  if (found.length === 0) throw nothingOf(objects, namespace, name)
  const versions = found.flatMap((object) => versionsOf(objects, object, version))
  if (version !== undefined && versions.length === 0) {
    throw new OptionsError([
      `${address} has no Version ${version}: depot why ${address} shows what was asked and skipped`,
    ])
  }
  const { apiGroup, manifests, archives } = options
  const where = {
    apiGroup,
    manifests: folder && manifests,
    archives: archives === whyCommand.options.archives.default ? undefined : archives,
    name,
  }
  const stories = [...found, ...versions].map((object) => storyOf(object, objects, where))
  const isServed = found.some(({ kind }) => kind === 'Module' || kind === 'Provider')
  const served = isServed ? await explainAddress(options, address, version) : undefined
  if (options.output === 'json') {
    const explained: unknown = served === undefined ? undefined : JSON.parse(served)
    return `${JSON.stringify({ schema: 1, stories, served: explained }, null, 2)}\n`
  }
  return [...stories.map(textOf), ...(served === undefined ? [] : [served])].join('\n')
}

function find(
  objects: Objects,
  namespace: string,
  name: string,
  system: string | undefined,
): StoredObject[] {
  return kinds
    .flatMap((kind) => objects.list(kind, { namespace }))
    .filter((object) => {
      const config = configOf(object)
      if (system !== undefined && config?.provider !== system) return false
      return object.metadata.name === name || (object.kind !== 'Version' && config?.name === name)
    })
}

/** The Depots with a config of a name, from which they have not created an object yet. */
function depotsAskingFor(
  objects: Objects,
  namespace: string,
  name: string,
  system: string | undefined,
): StoredObject[] {
  return objects.list('Depot', { namespace }).filter(({ spec }) => {
    const { moduleConfigs = [], providerConfigs = [] } = spec as Depot['spec']
    const isAsked = (config: { name?: string | undefined; provider?: string | undefined }) =>
      config.name === name && (system === undefined || config.provider === system)
    return moduleConfigs.some(isAsked) || providerConfigs.some(isAsked)
  })
}

/** The Versions of a number. Without a number, those that have a problem. */
function versionsOf(
  objects: Objects,
  { kind, metadata }: StoredObject,
  version: string | undefined,
): StoredObject[] {
  if (kind !== 'Module' && kind !== 'Provider') return []
  const { namespace, uid: ownerUid } = metadata
  const all = objects.list('Version', { namespace, ownerUid })
  if (version !== undefined) {
    const wanted = normalizeVersion(version)
    return all.filter(({ spec }) => normalizeVersion((spec as Version['spec']).version) === wanted)
  }
  return all
    .filter(({ status }) => {
      const { synced, drift } = (status ?? {}) as NonNullable<Version['status']>
      return synced !== true || drift !== undefined
    })
    .slice(0, maxVersions)
}

function nothingOf(objects: Objects, namespace: string, name: string): OptionsError {
  const names = kinds.flatMap((kind) =>
    objects.list(kind, { namespace }).map(({ metadata }) => metadata.name),
  )
  const meant = closest(name, [...new Set(names)])
  const hint =
    meant !== undefined
      ? `did you mean ${namespace}/${meant}?`
      : names.length === 0
        ? `namespace ${namespace} has no objects: check the namespace`
        : 'no Depot, Module, Provider or Version has this name'
  return new OptionsError([`there is no ${namespace}/${name}: ${hint}`])
}

function textOf({ object, asked, answered, decided, remedy }: Story): string {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['asked', asked],
    ['answered', answered],
    ['decided', decided],
    ['mend it', remedy],
  ]
  const lines = rows.flatMap(([title, text]) =>
    text === undefined ? [] : [`  ${`${title}:`.padEnd(10)} ${text}`],
  )
  return [object, ...lines, ''].join('\n')
}
