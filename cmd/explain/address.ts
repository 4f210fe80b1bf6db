import { type ExplainCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'
import { type Explanation, explanationOf, namespaceIn } from '../../pkg/registry/browse/browse.ts'
import { type RecordsSource, readRecords } from './records.ts'

/**
 * Explains which object has an address, which Versions of a number are served, and why others are not. The answer equals
 * that of `/depot/ui/v1/explain`.
 *
 * @throws OptionsError if no module or provider has the address
 */
export async function explainAddress(
  options: RecordsSource & Pick<ExplainCommandOptions, 'output'>,
  address: string,
  version: string | undefined,
): Promise<string> {
  const namespace = namespaceIn(address)
  const { catalog } = await readRecords(options, {
    kinds: ['Module', 'Provider', 'Version'],
    namespace,
  })
  const explained = explanationOf(catalog, catalog.model.views.all, address, version)
  if (explained === undefined) {
    throw new OptionsError([
      `no module or provider has the address ${JSON.stringify(address)}: write NAMESPACE/NAME/SYSTEM of a module or NAMESPACE/TYPE of a provider`,
    ])
  }
  return options.output === 'json' ? `${JSON.stringify(explained, null, 2)}\n` : textOf(explained)
}

function textOf({ address, claims, versions }: Explanation): string {
  const lines = [`Address ${address}:`]
  for (const { kind, namespace, name, address: own, reason, message } of claims) {
    const object = `${kind} ${namespace}/${name}`
    if (reason === undefined) lines.push(`  ${object} has it`)
    else lines.push(`  ${object} does not have it (it is ${own}): ${reason}, ${message}`)
  }
  if (claims.length === 0) lines.push('  no module or provider has it')
  if (versions !== undefined) lines.push('Versions of that number:')
  for (const { namespace, name, os, arch, reason, message } of versions ?? []) {
    const platform = os === undefined ? '' : ` (${os}/${arch})`
    const result = reason === undefined ? 'is served' : `is not served: ${reason}, ${message}`
    lines.push(`  ${namespace}/${name}${platform} ${result}`)
  }
  if (versions?.length === 0) lines.push('  none')
  return `${lines.join('\n')}\n`
}
