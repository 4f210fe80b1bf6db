import { plainText } from '../../pkg/archives/docs/docs.ts'
import { type ConsumersCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import { type Consumer, consumersIn, openBrowseApi, registryAddress } from '../registry/registry.ts'

/** Prints who uses a module or provider. @throws OptionsError if the registry does not answer */
export async function consumers(
  options: ConsumersCommandOptions,
  operands: readonly string[],
): Promise<undefined> {
  const found = registryAddress(operands.join(' '))
  if (found === undefined || found.version !== undefined) {
    throw new OptionsError(['write one HOST/NAMESPACE/NAME/SYSTEM, or HOST/NAMESPACE/TYPE'])
  }
  await using api = await openBrowseApi(options, found.host)
  const { items } = await consumersIn(api, await api.objectAt(found.path))
  const chosen = options.outdated ? items.filter(isOutdated) : items
  stdout.write({ text: asText, json: asJson, csv: asCsv }[options.output](chosen))
  return undefined
}

const isOutdated = ({ behind, versions }: Consumer): boolean =>
  behind > 0 ||
  versions.some(({ state, critical }) => state !== undefined || critical !== undefined)

const asJson = (all: readonly Consumer[]): string => plainText(`${JSON.stringify(all, null, 2)}\n`)

function asText(all: readonly Consumer[]): string {
  if (all.length === 0) return 'No consumer is known.\n'
  const lines = all.map(({ consumer, versions, lastUsed, behind }) => {
    const used = versions.map(({ version, state, critical }) => {
      const notes = [state?.toLowerCase(), critical && `${critical} CRITICAL`].filter(Boolean)
      return notes.length === 0 ? version : `${version} (${notes.join(', ')})`
    })
    const place = behind === 0 ? 'on the newest version' : `${behind} behind`
    return `${consumer}: ${used.join(', ')}; ${place}, last used on ${lastUsed}`
  })
  return plainText(`${lines.join('\n')}\n`)
}

function asCsv(all: readonly Consumer[]): string {
  const rows = all.flatMap(({ consumer, behind, versions }) =>
    versions.map(({ version, lastUsed, days, state = '', critical = 0 }) =>
      [consumer, version, lastUsed, days, behind, state, critical].map(cell).join(','),
    ),
  )
  const header = 'consumer,version,last_used,days,behind,state,critical'
  return plainText(`${[header, ...rows].join('\n')}\n`)
}

/** Spreadsheets run text that begins like a formula. */
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
