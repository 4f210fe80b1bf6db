import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { type ByteSource, chunksOf } from '../../archives/spool/spool.ts'
import type { Archive, ByteRange } from '../../archives/storage/storage.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { matchesEtag, RESPONSE_ALREADY_SENT, type ServingEnv } from '../../base/serving/serving.ts'
import type { RegistryOptions } from './endpoint.ts'

/** An archive that a client asks for. */
export interface AskedArchive {
  readonly archives: RegistryOptions['archives']
  readonly archive: Archive
  /** Whether a GET may be sent on to the storage; HEAD never is, as a URL signed for GET refuses it. */
  readonly mayPresign: boolean
  /** Called when a client was given all of the archive, or a URL of it. */
  readonly onWhole?: () => void
}

/**
 * Answers GET and HEAD for an archive, whole or a range of it, with 304 if the client has it already. The ETag is the
 * digest, so it never names other bytes.
 */
export function archiveResponse(
  c: Context<ServingEnv>,
  asked: AskedArchive,
): Response | Promise<Response> {
  const { archive, mayPresign } = asked
  const etag = etagOf(archive.sha256)
  if (matchesEtag(c.req.header('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { ...sharedHeaders, ETag: etag } })
  }
  const range = isCurrent(c.req.header('if-range'), etag) ? c.req.header('range') : undefined
  if (c.req.method === 'HEAD') return headResponse(asked, range)
  const presigns = mayPresign && archive.location.storage.presign?.enabled === true
  return presigns ? redirectOrBytes(c, asked, range) : bytesResponse(c, asked, range)
}

async function headResponse(
  { archives, archive }: AskedArchive,
  wanted: string | undefined,
): Promise<Response> {
  const sizeBytes = await archives.sizeOf(archive)
  return new Response(null, headOf(archive, sizeBytes, partOf(wanted, sizeBytes)))
}

async function redirectOrBytes(
  c: Context<ServingEnv>,
  asked: AskedArchive,
  wanted: string | undefined,
): Promise<Response> {
  const url = await asked.archives.presign(asked.archive)
  if (url === undefined) return bytesResponse(c, asked, wanted)
  asked.onWhole?.()
  // The URL gives access to the archive, for a while: caches must not keep it.
  return new Response(null, {
    status: 307,
    headers: { Location: url, 'Cache-Control': 'no-store' },
  })
}

/** From memory if a small archive is there, otherwise from storage. */
function bytesResponse(
  c: Context<ServingEnv>,
  asked: AskedArchive,
  wanted: string | undefined,
): Response | Promise<Response> {
  const { archives, archive, onWhole = () => {} } = asked
  const bytes = wanted === undefined ? archives.inMemory(archive.sha256) : undefined
  if (bytes === undefined) return storedResponse(c, asked, wanted)
  const outgoing = c.env?.outgoing
  if (outgoing === undefined) onWhole()
  else outgoing.once('finish', onWhole)
  return new Response(bytes, headOf(archive, bytes.length))
}

async function storedResponse(
  c: Context<ServingEnv>,
  { archives, archive, onWhole }: AskedArchive,
  wanted: string | undefined,
): Promise<Response> {
  const part = wanted === undefined ? undefined : partOf(wanted, await archives.sizeOf(archive))
  const { sizeBytes, range, body } = await archives.open(archive, part)
  const isWhole = range === undefined || (range.start === 0 && range.end === sizeBytes - 1)
  const onSent = isWhole ? onWhole : undefined
  return bodyResponse(body, headOf(archive, sizeBytes, range), c.env?.outgoing, onSent)
}

/** @throws RegistryError RangeNotSatisfiable */
function partOf(wanted: string | undefined, sizeBytes: number): ByteRange | undefined {
  const range = parseRange(wanted, sizeBytes)
  if (range === 'whole') return undefined
  if (range !== 'unsatisfiable') return range
  throw new RegistryError(
    'RangeNotSatisfiable',
    `the archive has ${sizeBytes} bytes, and the range is outside of them`,
    { headers: { 'Content-Range': `bytes */${sizeBytes}` } },
  )
}

function headOf(archive: Archive, sizeBytes: number, range?: ByteRange) {
  const headers = { ...archiveHeaders(archive.location.fileName), ETag: etagOf(archive.sha256) }
  if (range === undefined) {
    return { status: 200, headers: { ...headers, 'Content-Length': String(sizeBytes) } }
  }
  return {
    status: 206,
    headers: {
      ...headers,
      'Content-Length': String(range.end - range.start + 1),
      'Content-Range': `bytes ${range.start}-${range.end}/${sizeBytes}`,
    },
  }
}

/** The ETag of an archive, which is its digest. */
export const etagOf = (sha256: string): string => `"${sha256}"`

const sharedHeaders = {
  'Accept-Ranges': 'bytes',
  'Cache-Control': 'private, max-age=0, must-revalidate',
} as const

/** Headers of an archive, without its ETag and its length. */
export function archiveHeaders(fileName: string): Record<string, string> {
  const isTar = /\.(tar\.gz|tgz)$/i.test(fileName)
  return {
    ...sharedHeaders,
    'Content-Type': isTar ? 'application/gzip' : 'application/zip',
    // A browser saves it, and does not show it as a page of this host.
    'Content-Disposition': 'attachment',
  }
}

/** If-Range compares strongly; a date never matches, as archives have none. */
function isCurrent(header: string | undefined, etag: string): boolean {
  return header === undefined || header.trim() === etag
}

type Outgoing = HttpBindings['outgoing']

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Answers with a body. It is written to the connection directly: a chunk is written while the next one is read into a
 * buffer that is used again, so a download takes the memory of two chunks, however long and slow it is.
 *
 * @param onSent called when the system has taken all of it
 */
function bodyResponse(
  body: ByteSource,
  head: Head,
  outgoing: Outgoing | undefined,
  onSent: () => void = () => {},
): Response {
  if (outgoing === undefined) return new Response(ReadableStream.from(copied(body, onSent)), head)
  outgoing.once('finish', onSent)
  void send(body, head, outgoing)
  return RESPONSE_ALREADY_SENT
}

/**
 * An error in the middle becomes a broken connection: the headers have promised a length by then, so this is the only way
 * to tell a client that the body is incomplete.
 */
async function send(body: ByteSource, head: Head, outgoing: Outgoing): Promise<void> {
  const { socket } = outgoing.req
  let gone = outgoing.destroyed || socket.destroyed
  let settle = (): void => {}
  const leave = (): void => {
    gone = true
    body.close()
    settle()
  }
  outgoing.once('close', leave)
  // An answer that waits for the previous one is not told when its connection closes.
  socket.once('close', leave)
  try {
    if (!gone) outgoing.writeHead(head.status, head.headers)
    let written = Promise.resolve()
    for (;;) {
      const chunk = gone ? undefined : await body.read()
      await written
      if (gone) break
      if (chunk === undefined) {
        outgoing.end()
        break
      }
      written = new Promise((resolve) => {
        settle = resolve
        outgoing.write(chunk, (error) => {
          if (error) gone = true
          resolve()
        })
      })
    }
  } catch {
    // The storage has logged and counted the error.
    outgoing.destroy()
  } finally {
    socket.off('close', leave)
    body.close()
  }
}

/** For callers that ask the app without a connection; an error stays an error. */
async function* copied(body: ByteSource, onEnd: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunksOf(body)) yield new Uint8Array(chunk)
  onEnd()
}

/** Two numbers of 16 digits, and blanks. Longer headers cannot be the range of a file, and are not parsed. */
const maxCharacters = 64

/**
 * Reads a `Range` header (RFC 9110, section 14). Anything but a single range of bytes is ignored, as the RFC
 * allows: the client then gets the whole archive.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  if (header !== undefined && header.length > maxCharacters) return 'whole'
  const match = header?.match(/^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i)
  const [, first = '', last = ''] = match ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}
