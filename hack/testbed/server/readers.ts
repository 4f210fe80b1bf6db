import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'

export interface Readers {
  /** Answers so far, failed ones too. */
  readonly reads: number
  /** The answers that were not 200 with JSON. */
  readonly failed: readonly string[]
  readonly done: Promise<void>
}

/**
 * Reads paths of a server over sixteen connections, until the signal says stop or so many have been read.
 *
 * @param until with milliseconds that each connection pauses after an answer. Default: none
 */
export function startReaders(
  origin: string,
  paths: readonly string[],
  until: { readonly signal?: AbortSignal; readonly most?: number; readonly pauseMs?: number },
): Readers {
  const agent = new Agent({ connections: 16, pipelining: 1 })
  const { most = Number.POSITIVE_INFINITY, pauseMs = 0 } = until
  const failed: string[] = []
  let reads = 0

  async function read(path: string): Promise<void> {
    try {
      const { statusCode, body } = await agent.request({ origin, path, method: 'GET' })
      const text = await body.text()
      if (statusCode !== 200) failed.push(`${path}: ${statusCode} ${text}`)
      else JSON.parse(text)
    } catch (err) {
      failed.push(`${path}: ${String(err)}`)
    }
  }
  async function readOn(): Promise<void> {
    while (until.signal?.aborted !== true && reads < most) {
      reads += 1
      await read(paths[reads % paths.length] ?? '')
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  const all = Promise.all(Array.from({ length: 16 }, readOn))
  return {
    get reads() {
      return reads
    },
    failed,
    done: all.then(() => agent.close()),
  }
}
