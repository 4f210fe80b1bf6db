import type { PageAddress } from '../url/pages.ts'
import { readStored, writeStored } from './storage.ts'

/* Recently visited resources, for the palette. They are kept for this tab until sign-out. */

export interface Visit extends PageAddress {
  readonly version?: string
  readonly at: number
}

const key = 'depot-visits'
const most = 8

export function visits(): Visit[] {
  try {
    const found = JSON.parse(readStored('sessionStorage', key) ?? '[]') as unknown
    return Array.isArray(found) ? found.filter(isVisit) : []
  } catch {
    return []
  }
}

const isVisit = (it: unknown): it is Visit => {
  const { namespace, kind, name } = (it ?? {}) as Partial<Visit>
  return [namespace, kind, name].every((word) => typeof word === 'string')
}

export function rememberVisit(visit: Visit): void {
  const others = visits().filter(
    (it) => !(it.namespace === visit.namespace && it.kind === visit.kind && it.name === visit.name),
  )
  write(JSON.stringify([visit, ...others].slice(0, most)))
}

export const forgetVisits = (): void => write('[]')

const write = (text: string): void => writeStored('sessionStorage', key, text)
