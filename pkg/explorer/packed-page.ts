import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { encodingsIn } from './headers.ts'
import { type ExplorerContext, fetchSiteOf } from './request.ts'

const compress = promisify(gzip)
/** A page has 40 kB, of which rows that are much alike are most: more effort makes it hardly smaller. */
const level = 3

/**
 * A page compressed, for a browser that takes it: a slow network brings 5 kB sooner than 40. What another site leads to is
 * sent as it is: the size of a compressed page would tell that site, which chooses the URL, what else stands in the page.
 *
 * @returns undefined where the page is to be sent as it is
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
