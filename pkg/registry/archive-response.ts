import type { Context } from 'hono'
import { RegistryError } from '../errors/errors.ts'
import { type ByteRange, parseRange } from './byte-range.ts'
import type { Archives, RegistryEnv, ServedArchive } from './routes.ts'

/**
 * Answers GET and HEAD for an archive, whole or a range of it, and 304 for who has it already. The ETag is the digest, so
 * it never names other bytes.
 */
export async function archiveResponse(
  c: Context<RegistryEnv>,
  archives: Archives,
  archive: ServedArchive,
): Promise<Response> {
  const etag = `"${archive.sha256}"`
  const headers: Record<string, string> = {
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, max-age=0, must-revalidate',
    ETag: etag,
  }
  if (matches(c.req.header('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers })
  }

  headers['Content-Type'] = contentType(archive.location.fileName)
  const head = c.req.method === 'HEAD'
  const wanted = isCurrent(c.req.header('if-range'), etag) ? c.req.header('range') : undefined
  if (!head && wanted === undefined) return send(headers, await open(c, archives, archive))

  const { sizeBytes } = await archives.stat(archive.location)
  const range = parseRange(wanted, sizeBytes)
  if (range === 'unsatisfiable') {
    throw new RegistryError(
      'RangeNotSatisfiable',
      `the archive has ${sizeBytes} bytes, and the range lies outside of them`,
      { headers: { 'Content-Range': `bytes */${sizeBytes}` } },
    )
  }
  const part = range === 'whole' ? undefined : range
  if (!head) return send(headers, await open(c, archives, archive, part))
  return send(headers, { sizeBytes, ...(part && { range: part }), body: null })
}

function send(headers: Record<string, string>, { sizeBytes, range, body }: Opened): Response {
  if (range === undefined) {
    return new Response(body, { headers: { ...headers, 'Content-Length': String(sizeBytes) } })
  }
  return new Response(body, {
    status: 206,
    headers: {
      ...headers,
      'Content-Length': String(range.end - range.start + 1),
      'Content-Range': `bytes ${range.start}-${range.end}/${sizeBytes}`,
    },
  })
}

interface Opened {
  readonly sizeBytes: number
  readonly range?: ByteRange
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null
}

async function open(
  c: Context<RegistryEnv>,
  archives: Archives,
  archive: ServedArchive,
  range?: ByteRange,
): Promise<Opened> {
  const opened = await archives.open(archive, range)
  return { ...opened, body: breakOffOnError(opened.body, c.env?.outgoing) }
}

/**
 * Turns an error in the middle of a body into a broken connection: the headers have promised a length by then, so this
 * is the only way to tell a client that what it has is not the whole. Without a connection the error stays an error.
 */
function breakOffOnError(
  body: ReadableStream<Uint8Array>,
  outgoing: { destroy(): unknown } | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value as Uint8Array<ArrayBuffer>)
      } catch (error) {
        if (outgoing === undefined) throw error
        outgoing.destroy()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function contentType(fileName: string): string {
  return /\.(tar\.gz|tgz)$/i.test(fileName) ? 'application/gzip' : 'application/zip'
}

/** If-None-Match compares weakly, and knows `*`. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}

/** If-Range compares strongly; a date never matches, as archives have none. */
function isCurrent(header: string | undefined, etag: string): boolean {
  return header === undefined || header.trim() === etag
}
