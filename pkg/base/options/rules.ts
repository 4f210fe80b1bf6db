import type { OptionRule } from './table.ts'

/** Both or neither. */
export function together<K extends string>(one: K, other: K): OptionRule<K> {
  return ({ given, name }) => {
    if (given(one) === given(other)) return undefined
    const [set, missing] = given(one) ? [one, other] : [other, one]
    return `${name(set)} needs ${name(missing)}: set both, or neither`
  }
}

/** At most one of them. */
export function apart<K extends string>(one: K, other: K, why: string): OptionRule<K> {
  return ({ given, name }) => {
    if (!given(one) || !given(other)) return undefined
    return `${name(one)} and ${name(other)} exclude each other, because ${why}: keep one of them`
  }
}

/**
 * An option that means nothing unless one of the others is set.
 *
 * @param unless options for which another rule has a better message
 */
export function needs<K extends string>(
  one: K,
  others: readonly K[],
  unless: readonly K[] = [],
): OptionRule<K> {
  return ({ given, name }) => {
    if (!given(one) || others.some(given) || unless.some(given)) return undefined
    return `${name(one)} needs ${others.map(name).join(' or ')}: set it too, or leave the former out`
  }
}

/** Reports two equal addresses to listen on; port 0 differs each time. */
export function distinctAddresses<K extends string>(one: K, other: K): OptionRule<K> {
  return ({ text, name }) => {
    const address = text(one)
    if (address === undefined || address !== text(other) || /:0+$/.test(address)) return undefined
    return `${name(one)} and ${name(other)} are both ${address}: give one of them another port`
  }
}
