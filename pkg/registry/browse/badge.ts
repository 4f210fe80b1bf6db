import { notFound } from '../../base/errors/errors.ts'
import type { Catalog, View } from '../catalog/catalog.ts'
import { kindName, kindOf } from './parameters.ts'
import { escaped } from './xml.ts'

/** Below the prefix. The name ends in `.svg`. */
export const badgePattern = '/badges/:namespace/:kind/:file'

export const badgeHeaders = {
  'Content-Type': 'image/svg+xml',
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

const glyphWidth = 6.6
const padding = 12
const grey = '#4a5160'
const blue = '#2f5fd0'

/**
 * Draws a picture of a name and its latest version, for READMEs on other sites.
 *
 * @throws RegistryError NotFound if the resource does not exist or is not public
 */
export function badgeOf(
  catalog: Catalog,
  view: View,
  { namespace, kind, file }: { namespace: string; kind: string; file: string },
): string {
  const known = kindName.safeParse(kind).data
  const name = file.endsWith('.svg') ? file.slice(0, -4) : undefined
  const entry =
    known === undefined || name === undefined
      ? undefined
      : catalog.model.find(view, kindOf[known], namespace, name)
  const version = entry?.summary.latestVersion
  if (name === undefined || version === undefined) {
    throw notFound('no such badge: there is one for each public module and provider')
  }
  return draw(name, version)
}

function draw(name: string, version: string): string {
  const [left, right] = [name, `v${version}`].map(
    (text) => Math.round(text.length * glyphWidth) + padding,
  ) as [number, number]
  const width = left + right
  const text = (content: string, x: number) =>
    `<text x="${x}" y="14" text-anchor="middle">${escaped(content)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${escaped(`${name} ${version}`)}"><title>${escaped(`${name} ${version}`)}</title><rect width="${width}" height="20" rx="3" fill="${grey}"/><path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${right - 3}z" fill="${blue}"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(name, left / 2)}${text(`v${version}`, left + right / 2)}</g></svg>`
}
