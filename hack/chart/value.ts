/** JSON Schema of one value, draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>

/** One value of the chart: a line of values.yaml, of the schema and of the README. */
export interface Value {
  /** Path from the root, such as `server.oidc.issuerUrl`. */
  readonly name: string
  readonly schema: Schema
  readonly default: unknown
  readonly meaning: string
  /** Accepted so that a message can name its replacement. It is only in the schema. */
  readonly retired?: true
}

/** Helm checks that a default of the chart fits its schema. */
const row =
  (schema: Schema) =>
  (name: string, initial: unknown, meaning: string): Value => ({
    name,
    schema,
    default: initial,
    meaning,
  })

const amount = '[0-9]+(\\.[0-9]+)?'
/** A quantity of Kubernetes: `500m`, `1Gi`, 2. */
export const quantitySchema: Schema = {
  type: ['string', 'number'],
  pattern: `^(${amount}([numkMGTPE]|[KMGTPE]i|[eE][0-9]+)?)?$`,
}
/** Bytes only, because `500m` would be half a byte. */
export const bytesSchema: Schema = {
  type: ['string', 'number'],
  pattern: `^${amount}([kMGTPE]|[KMGTPE]i|[eE][0-9]+)?$`,
}

export const bool = row({ type: 'boolean' })
export const text = row({ type: 'string' })
export const list = row({ type: 'array' })
/** Keys that users choose: annotations, labels, node selectors. */
export const map = row({ type: 'object' })
const prefix = '([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?'
/** Name of a label, an annotation or a class: `team`, `example.com/team`. */
export const qualifiedName = `${prefix}[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`
const named = (of: Schema): Schema => ({
  type: 'object',
  patternProperties: { [`^${qualifiedName}$`]: of },
  additionalProperties: false,
})
/** The API server refuses numbers and booleans in annotations. */
export const strings = row(named({ type: 'string' }))
const label = '([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?'
export const labels = row(named({ type: 'string', pattern: `^${label}$` }))
/** Size of a volume or a limit. */
export const size = row({ ...bytesSchema, not: { pattern: '^[0.]+([^0-9.]|$)' } })
export const texts = row({ type: 'array', items: { type: 'string' } })
const listOf = (pattern: string) => row({ type: 'array', items: { type: 'string', pattern } })

/** Name of another object: lower-case letters, digits, dashes and dots. */
export const objectName = row({
  type: 'string',
  pattern: '^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)?$',
})
/** Names of objects, or `*`, each once. */
export const names = row({
  type: 'array',
  items: { type: 'string', pattern: '^(\\*|[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)$' },
  uniqueItems: true,
})
/** Name of an object, `-` for none, or nothing. */
export const className = row({
  type: 'string',
  pattern: '^(-|[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)?$',
})
export const secretKeyPattern = '^[-._a-zA-Z0-9]+$'
export const secretKey = row({ type: 'string', pattern: secretKeyPattern })
/** Host name without scheme and port, with a wildcard as its first part or without. */
export const hostPattern =
  '^(\\*|(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$'
export const hosts = listOf(hostPattern)
const byte = '(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])'
/** Networks such as 10.0.0.0/8. */
export const networks = listOf(
  `^((${byte}\\.){3}${byte}/(3[0-2]|[12]?[0-9])|[0-9a-fA-F]*:[0-9a-fA-F:.]*/(12[0-8]|1[01][0-9]|[0-9]?[0-9]))$`,
)
export const storageGrants = listOf('^[^=:/\\s]+=(\\*|(s3|azure|gs)://[^/\\s]|file:///)')
/** Path in a container, below a folder of its own. */
export const folder = row({ type: 'string', pattern: '^/[^/:][^:]*$' })

export const integer = (
  name: string,
  initial: number,
  meaning: string,
  range: { minimum?: number; maximum?: number } = { minimum: 0 },
): Value => row({ type: 'integer', ...range })(name, initial, meaning)

export const port = row({ type: 'integer', minimum: 1, maximum: 65535 })
export const boolOrAuto = row({ enum: [true, false, 'auto'] })
/** A share such as `50%`, a number of pods, or nothing. */
export const share = row({
  type: ['string', 'integer'],
  pattern: '^([0-9]+|(100|[0-9]{1,2})%)?$',
  minimum: 0,
})
/** A duration that Go and the options of Depot both accept: `10s`, `1h30m`, `0`. */
export const duration = row({
  type: 'string',
  pattern: '^(0|([0-9]+(\\.[0-9]+)?(ms|s|m|h))+)?$',
})

/** A duration as the Prometheus operator accepts it: `30s`, `1m30s`. */
export const interval = row({
  type: 'string',
  pattern: '^(0|([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$',
})

export const choice = (
  name: string,
  initial: string,
  choices: readonly string[],
  meaning: string,
): Value => row({ enum: choices })(name, initial, meaning)

export const matching = (name: string, initial: string, pattern: string, meaning: string): Value =>
  row({ type: 'string', pattern })(name, initial, meaning)

/** A list whose items have a fixed shape. */
export const items = (
  name: string,
  initial: readonly unknown[],
  item: Schema,
  meaning: string,
): Value => ({ name, schema: { type: 'array', items: item }, default: initial, meaning })

/** A name of an older chart. */
export const retired = (name: string): Value => ({
  name,
  schema: {},
  default: undefined,
  meaning: '',
  retired: true,
})

/** An object with exactly these properties. */
export const shape = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({ type: 'object', additionalProperties: false, properties, required })
