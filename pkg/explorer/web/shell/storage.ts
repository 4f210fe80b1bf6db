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

/* Remembered choices: the view of the list, the tool of the usage block, single keys. */

type Choice = 'view' | 'tool' | 'keys'

export const readChoice = (name: Choice): string | undefined =>
  readStored('localStorage', `depot-${name}`)

export const writeChoice = (name: Choice, value: string): void =>
  writeStored('localStorage', `depot-${name}`, value)
