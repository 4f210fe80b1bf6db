import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** The fault with which a test server answers. A function gives another answer, or names a fault. */
export type Fault = NamedFault | ((given: StandInAnswer) => Partial<StandInAnswer> | NamedFault)

type NamedFault =
  /** Too many requests, with Retry-After. */
  | 'limited'
  /** The same, for a second. */
  | 'limitedBriefly'
  | 'error'
  /** Half of the body, then the connection is broken. */
  | 'cut'
  /** Half of the body, then nothing for a minute. */
  | 'stall'
  /** The connection is taken, and nothing is sent. */
  | 'silent'
  /** One bit of the body is wrong. */
  | 'altered'
  /** A page of HTML with status 200. */
  | 'html'

interface Planned {
  readonly path: RegExp
  readonly fault: Fault
  left: number
}

/** Faults on demand, by path. */
export class Faults {
  readonly #planned = new Set<Planned>()

  /** @param times how often; default: always @returns ends it */
  on(path: RegExp, fault: Fault, times = Infinity): () => void {
    const planned = { path, fault, left: times }
    this.#planned.add(planned)
    return () => this.#planned.delete(planned)
  }

  clear(): void {
    this.#planned.clear()
  }

  for(url: string): Fault | undefined {
    const found = [...this.#planned].find(({ path, left }) => left > 0 && path.test(url))
    if (found !== undefined) found.left -= 1
    return found?.fault
  }
}

/** Answers, or does what the fault says. */
export async function answer(
  outgoing: ServerResponse,
  fault: Fault | undefined,
  given: Partial<StandInAnswer>,
): Promise<void> {
  const { status = 200, headers = {}, body = Buffer.alloc(0) } = given
  if (typeof fault === 'function') {
    const other = fault({ status, headers, body })
    const [named, sent] = typeof other === 'string' ? [other, given] : [undefined, other]
    return answer(outgoing, named, sent)
  }
  if (fault === 'limited' || fault === 'limitedBriefly') {
    const seconds = fault === 'limited' ? '120' : '1'
    outgoing.writeHead(429, { 'retry-after': seconds }).end('too many requests')
    return
  }
  if (fault === 'silent') return
  if (fault === 'error') {
    outgoing.writeHead(500).end('out of order')
    return
  }
  if (fault === 'html') {
    outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Sign in</p>')
    return
  }
  const sent = fault === 'altered' ? altered(body) : body
  outgoing.writeHead(status, { ...headers, 'content-length': String(sent.length) })
  if (fault !== 'cut' && fault !== 'stall') {
    outgoing.end(sent)
    return
  }
  outgoing.write(sent.subarray(0, sent.length >> 1))
  const closed = new AbortController()
  outgoing.once('close', () => closed.abort())
  if (fault === 'stall') await sleep(60_000, undefined, closed).catch(() => undefined)
  // The written bytes have to arrive before the end of the connection.
  else await sleep(20)
  outgoing.destroy()
}

export interface StandInAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

function altered(body: Buffer): Buffer {
  const copy = Buffer.from(body)
  const middle = copy.length >> 1
  if (copy.length > 0) copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle)
  return copy
}
