import { type Boot, type Prime, parseBoot } from '../../boot.ts'

const block = (id: string): HTMLElement | null => document.getElementById(id)

/** Configuration and user, which the server put into the page. */
export const boot: Boot = parseBoot(block('boot')?.textContent || '{}')

/** The page's first answer, if the server sent it with the page. */
export function readPrime(): Prime | undefined {
  const element = block('prime')
  const { key, status = '200' } = element?.dataset ?? {}
  if (element === null || key === undefined) return undefined
  try {
    return { key, status: Number(status), body: JSON.parse(element.textContent) }
  } catch {
    return undefined
  }
}
