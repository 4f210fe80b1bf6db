import { readStored, writeStored } from './storage.ts'

/* Remembered choices: the view of the list, the tool of the usage block, single keys. */

type Choice = 'view' | 'tool' | 'keys'

export const readChoice = (name: Choice): string | undefined =>
  readStored('localStorage', `depot-${name}`)

export const writeChoice = (name: Choice, value: string): void =>
  writeStored('localStorage', `depot-${name}`, value)
