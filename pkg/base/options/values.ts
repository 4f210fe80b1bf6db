import { isIPv4, isIPv6 } from 'node:net'
import * as z from 'zod'

/** Address to listen on or to connect to. */
export interface Address {
  /** Name or IP address, without brackets; undefined means every interface. */
  readonly host: string | undefined
  /** 0 to 65535; 0 lets the system choose. */
  readonly port: number
}

/** A type of value: `read` returns undefined for text that is not valid, and `refusal` names the correction. */
function valueOf<T>(read: (text: string) => T | undefined, refusal: string) {
  return z.string().transform((text, context) => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue(refusal)
    return z.NEVER
  })
}

/** A switch: the flag alone means true. */
export const onOff = z.stringbool({
  truthy: ['true', '1'],
  falsy: ['false', '0'],
  error: 'is neither true nor false: write true or false',
})

/** A row for a switch that is off by default. */
export const toggle = (meaning: string) => ({ value: onOff, default: 'false', meaning }) as const

const text = z.string().refine((value) => value.trim() !== '', {
  error: 'is empty: write a value, or leave the option out',
})
export const path = text.meta({ title: 'PATH' })
/** The folder of archives, in every command. */
export const archivesOption = {
  formerFlag: 'filesystem-mount-path',
  value: path,
} as const
export const name = text.meta({ title: 'NAME' })
/** Parsed by storage, which knows valid locations. */
export const storageGrants = text.meta({ title: 'NAMESPACE=URL …' })

/** One of some words. @param kind of thing, such as `an output format` */
export function oneOf<const T extends readonly string[]>(kind: string, ...words: T) {
  const error = `is not ${kind}: write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  return z.enum(words, { error })
}

/** A whole number from 1. */
export const countTo = (most: number) =>
  valueOf((value) => {
    const number = /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined
    return number !== undefined && number <= most ? number : undefined
  }, `is not a number: write 1 to ${most}`).meta({ title: 'COUNT' })

/** Names, separated by commas. */
export const list = valueOf((value) => {
  const items = value.split(',').map((item) => item.trim())
  return items.every((item) => /^\S+$/.test(item)) ? items : undefined
}, 'is not a list: separate the items by commas, such as openid,profile').meta({ title: 'A,B,…' })

function readAddress(value: string): Address | undefined {
  const { host = '', port = '' } = /^(?<host>.*):(?<port>\d{1,5})$/.exec(value)?.groups ?? {}
  if (port === '' || Number(port) > 65_535) return undefined
  if (host === '') return { host: undefined, port: Number(port) }
  const bracketed = /^\[(.+)\]$/.exec(host)?.[1]
  const known = bracketed === undefined ? isHost(host) : isIPv6(bracketed)
  return known ? { host: bracketed ?? host, port: Number(port) } : undefined
}

function isHost(host: string): boolean {
  if (/^[\d.]+$/.test(host)) return isIPv4(host)
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)
}

export const listenAddress = valueOf(
  readAddress,
  'is not an address: write :8080, 127.0.0.1:8080 or [::1]:8080 (port 0 to 65535)',
).meta({ title: 'ADDRESS' })

/** A server of Valkey or Redis: host and port, or a URL that says whether to use TLS. */
export const valkeyAddress = valueOf((value) => {
  const { scheme, rest = value } =
    /^(?<scheme>(valkey|redis)s?):\/\/(?<rest>.*?)\/?$/.exec(value)?.groups ?? {}
  const { host, port } = readAddress(rest) ?? {}
  if (host === undefined || !port) return undefined
  return { host, port, tls: ['valkeys', 'rediss'].includes(scheme ?? '') }
}, 'is not a host and port: write, for example, valkey:6379, [::1]:6379 or, for TLS, valkeys://valkey:6379').meta(
  {
    title: 'HOST:PORT',
  },
)

const msPerUnit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** @returns milliseconds */
function readDuration(value: string): number | undefined {
  if (value === '0') return 0
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(value)) return undefined
  const parts = [...value.matchAll(/([\d.]+)(ms|s|m|h)/g)]
  return Math.round(
    parts.reduce(
      (sum, [, count, unit]) => sum + Number(count) * msPerUnit[unit as keyof typeof msPerUnit],
      0,
    ),
  )
}

/**
 * A duration such as `500ms`, `10s` or `1m30s`, in milliseconds.
 *
 * @param least also a duration
 * @param most also a duration
 */
export function durationMs({ least, most }: { least: string; most: string }) {
  const [leastMs = 0, mostMs = 0] = [readDuration(least), readDuration(most)]
  return valueOf(readDuration, 'is not a duration: write, for example, 500ms, 10s or 1m30s')
    .refine((value) => value >= leastMs && value <= mostMs, {
      error: `is out of range: write ${least} to ${most}`,
    })
    .meta({ title: 'DURATION' })
}

const powerOfPrefix = ['', 'k', 'm', 'g', 't']

/** A size such as `10GiB`, `512Mi`, `2GB` or a bare number, in bytes; as in Kubernetes, `G` is 1000^3 and `Gi` 1024^3. */
export const sizeBytes = valueOf((value) => {
  const parts = /^(?<count>\d+(\.\d+)?)\s*((?<prefix>[kmgt])(?<binary>i)?)?b?$/i.exec(value)?.groups
  if (parts === undefined) return undefined
  const power = powerOfPrefix.indexOf((parts['prefix'] ?? '').toLowerCase())
  const bytes = Math.floor(Number(parts['count']) * (parts['binary'] ? 1024 : 1000) ** power)
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined
}, 'is not a size: write, for example, 10GiB or 500MB').meta({ title: 'SIZE' })

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export const namespace = valueOf(
  (value) => (label.test(value) ? value : undefined),
  'is not a namespace: write lower-case letters, digits and dashes, at most 63',
).meta({ title: 'NAMESPACE' })

const templateName = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** A Module in the namespace of its user, or in a named one. */
export const template = valueOf(
  (value) => (templateName.test(value) ? value : undefined),
  'is not the name of a Module: write NAME, or NAMESPACE/NAME',
).meta({ title: '[NAMESPACE/]NAME' })

/** Separated by commas. Empty text means every namespace. */
export const namespaces = z
  .string()
  .transform((value) => (value === '' ? undefined : value.split(',').map((item) => item.trim())))
  .pipe(z.array(namespace).optional())
  .meta({ title: 'NAMESPACE,…' })

/** Empty text means every namespace, as in charts that always pass the flag. */
export const namespaceOrAll = z
  .string()
  .transform((value) => (value === '' ? undefined : value))
  .pipe(namespace.optional())
  .meta({ title: 'NAMESPACE' })

export const apiGroup = valueOf((value) => {
  const labels = value.split('.')
  const isDomain = labels.length > 1 && labels.every((part) => label.test(part))
  return isDomain && value.length <= 253 ? value : undefined
}, 'is not an API group: write a lower-case domain name with a dot, such as depot.internal').meta({
  title: 'GROUP',
})
