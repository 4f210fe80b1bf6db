/* Storage of the browser, which a person can switch off: then nothing is kept. */

type Kind = 'localStorage' | 'sessionStorage'

export function readStored(kind: Kind, key: string): string | undefined {
  try {
    return globalThis[kind].getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

export function writeStored(kind: Kind, key: string, value: string): void {
  try {
    globalThis[kind].setItem(key, value)
  } catch {
    // It holds for this page only.
  }
}
