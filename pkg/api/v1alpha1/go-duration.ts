/** A Go duration such as `15m` or `1h30m`. */
export const goDuration = /^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$/

const secondsOfUnit: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  ns: 1e-9,
}

/** @param duration matches `goDuration` @returns seconds, with fractions */
export function secondsOf(duration: string): number {
  let seconds = 0
  for (const [, amount, unit = ''] of duration.matchAll(/([\d.]+)(ns|us|ms|s|m|h)/g)) {
    seconds += Number(amount) * (secondsOfUnit[unit] ?? 0)
  }
  return seconds
}
