import type { PublishRight } from '../api/records.ts'
import type { PublishValues } from '../url/pages.ts'

/** A field that cannot be published as it is typed. */
export interface Mistake {
  readonly field: 'name' | 'system' | 'version'
  readonly words: string
}

const namePattern = /^[0-9A-Za-z]([0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$/
const typePattern = /^[0-9a-z]([0-9a-z-]{0,62}[0-9a-z])?$/
const systemPattern = /^[0-9a-z]{1,64}$/
const versionPattern =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

/** The first mistake in the typed fields. Empty fields are not mistakes. */
export function mistakeIn({ kind, name, system, version }: PublishValues): Mistake | undefined {
  if (kind === 'provider' && name !== '' && !typePattern.test(name)) {
    const words = `Name “${name}” is not a type of providers: use up to 64 lower-case letters, digits and dashes.`
    return { field: 'name', words }
  }
  if (kind === 'module' && name !== '' && !namePattern.test(name)) {
    const words = `Name “${name}” is not a name of modules: use up to 64 letters, digits, dashes and underscores.`
    return { field: 'name', words }
  }
  if (kind === 'module' && system !== '' && !systemPattern.test(system)) {
    const words = `System “${system}” is not a target system: use lower-case letters and digits, such as aws.`
    return { field: 'system', words }
  }
  if (version === '' || versionPattern.test(version)) return undefined
  const [, number = '', rest = ''] = /^v?(\d+(?:\.\d+)?)((?:-|\+).*)?$/.exec(version) ?? []
  if (number === '') {
    const words = `Version “${version}” is not a semantic version: write three numbers, such as 2.1.0.`
    return { field: 'version', words }
  }
  const parts = number.split('.')
  const said = parts.length === 1 ? 'one part' : 'two parts'
  const whole = [...parts, '0', '0'].slice(0, 3).join('.')
  return {
    field: 'version',
    words: `Version ${version} has ${said}. It needs three, as ${whole}${rest}.`,
  }
}

/** Empties the fields with a mistake, because a link of another person can fill them with any text. */
export function withoutMistakes(values: PublishValues): PublishValues {
  const mistake = mistakeIn(values)
  return mistake === undefined ? values : withoutMistakes({ ...values, [mistake.field]: '' })
}

/** The address after the host; undefined until all fields are filled and valid. */
export function addressIn(values: PublishValues): string | undefined {
  const { kind, namespace, name, system } = values
  if (namespace === '' || name === '' || mistakeIn(values) !== undefined) return undefined
  if (kind === 'provider') return `${namespace}/${name}`
  return system === '' ? undefined : `${namespace}/${name}/${system}`
}

/** The name patterns of a right. */
export const namesOf = (kind: string, { modules, providers }: PublishRight): readonly string[] =>
  kind === 'provider' ? providers : modules
