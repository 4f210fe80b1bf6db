/* What a reader chose once and finds again: the view of the list, the tool of the usage block, single keys. */

type Choice = 'view' | 'tool' | 'keys'

export function readChoice(name: Choice): string | undefined {
  try {
    return localStorage.getItem(`depot-${name}`) ?? undefined
  } catch {
    return undefined
  }
}

export function writeChoice(name: Choice, value: string): void {
  try {
    localStorage.setItem(`depot-${name}`, value)
  } catch {
    // Storage can be switched off; the choice then holds for this page only.
  }
}
