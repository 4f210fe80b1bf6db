export type Fields = Readonly<Record<string, unknown>>

/** An object of JSON or YAML; undefined for everything else, lists included. */
export function fieldsOf(value: unknown): Fields | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Fields) : undefined
}
