import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { encodingsIn } from './headers.ts'
import { type ExplorerContext, fetchSiteOf } from './request.ts'

const compress = promisify(gzip)
/** A page has 40 kB of similar rows: a higher level hardly makes it smaller. */
const level = 3

/**
 * Compresses a page for browsers that accept it: 5 kB instead of 40. Pages that another site links to are not compressed:
 * that site chooses the URL, so the compressed size would reveal what else is in the page.
 *
 * @returns undefined if the page has to be sent uncompressed
 */
export async function packPage(
  c: ExplorerContext,
  html: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const site = fetchSiteOf(c)
  if (site !== 'none' && site !== 'same-origin') return undefined
  const accepted = encodingsIn(c.req.header('accept-encoding'))
  return accepted.includes('gzip') ? new Uint8Array(await compress(html, { level })) : undefined
}
