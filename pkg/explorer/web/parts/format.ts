/* Numbers, sizes and times as text. */

const grouped = new Intl.NumberFormat('en')
export const number = (value: number): string => grouped.format(value)

/** 1 version, 2 versions. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`

/** Appends the end of a sentence as its own sentence. */
export const sentence = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** In units of 1024, with one decimal from KiB on. */
export function bytes(value: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), units.length - 1)
  if (power === 0) return plural(value, 'byte')
  return `${(value / 1024 ** power).toFixed(1)} ${units[power]}`
}

/** A percentage with one decimal. Only nothing is 0 %, and only the whole is 100 %. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '0%'
  const share = (part / whole) * 100
  if (part > 0 && share < 0.1) return '< 0.1%'
  if (part < whole && share > 99.9) return '> 99.9%'
  return `${share.toFixed(1)}%`
}

const steps: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

export function timeAgo(at: number, now: number): string {
  const seconds = (at - now) / 1000
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  }
  return seconds > 0 ? 'in less than a minute' : 'just now'
}

const fullDate = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'long',
  timeZone: 'UTC',
})
export const fullTime = (at: number): string => fullDate.format(at)

const clockTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
export const clock = (at: number): string => clockTime.format(at)
