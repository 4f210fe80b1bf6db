/* Storage of the browser. People can switch it off. Then nothing is kept. */

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
    // The value lasts only for this page.
  }
}
