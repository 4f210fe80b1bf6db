import { XMLParser } from 'fast-xml-parser'
import * as z from 'zod'
import type { ListedObject } from '../driver.ts'

const parser = new XMLParser({
  parseTagValue: false,
  htmlEntities: true,
  trimValues: false,
  isArray: (name) => name === 'Contents',
})

const Page = z.object({
  ListBucketResult: z.object({
    Contents: z
      .array(z.object({ Key: z.string(), Size: z.coerce.number(), LastModified: z.coerce.date() }))
      .default([]),
    NextContinuationToken: z.string().optional(),
  }),
})

/**
 * Lists pages of a bucket's objects. Keys are requested without encoding, because stores encode them differently and the
 * library's list returns some names wrong.
 *
 * @param fetchPage answers with the XML for a query
 */
export async function* listS3(
  prefix: string,
  fetchPage: (query: Record<string, string>) => Promise<string>,
): AsyncGenerator<ListedObject[]> {
  let cursor: string | undefined
  do {
    const query = {
      'list-type': '2',
      prefix,
      ...(cursor !== undefined && { 'continuation-token': cursor }),
    }
    const { ListBucketResult: page } = Page.parse(parser.parse(await fetchPage(query)))
    yield page.Contents.map(({ Key, Size, LastModified }) => ({
      object: Key,
      sizeBytes: Size,
      changedAtMs: LastModified.getTime(),
    }))
    cursor = page.NextContinuationToken
  } while (cursor)
}
