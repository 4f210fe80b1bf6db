import { cpuNanoseconds } from './cpu.ts'
import { median } from './rounds.ts'
import { type WrkLoad, type WrkResult, wrk } from './wrk.ts'

/** A server under load, and the process whose CPU time counts. */
export interface Measured {
  readonly port: number
  readonly pid: number
}

export interface Cost {
  /** CPU time that the bare server takes for a request, divided by ours: above 1 ours is cheaper. */
  readonly cpuRatio: number
  /** Bytes per second, ours divided by the bare server's. */
  readonly throughputRatio: number
  /** CPU time of a request, in microseconds. */
  readonly cpuMicroseconds: number
  readonly bareCpuMicroseconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Turn extends WrkResult {
  readonly cpuMicroseconds: number
}

/**
 * Compares what a request costs two servers, in rounds of bare, ours, ours, bare: what else the machine does falls on both.
 * A ratio is taken within a round, and the median over all rounds.
 */
export async function compareCost(
  servers: { readonly bare: Measured; readonly own: Measured },
  load: Omit<WrkLoad, 'url' | 'seconds'> & {
    readonly path: string
    /** Of one answer, where a turn is over before many are: then bytes are counted, and not the answers that were whole. */
    readonly answerBytes?: number
  },
  rounds = 7,
): Promise<Cost> {
  const { path, answerBytes, ...rest } = load
  const turn = async ({ port, pid }: Measured): Promise<Turn> => {
    const before = cpuNanoseconds(pid)
    const result = await wrk({ ...rest, url: `http://127.0.0.1:${port}${path}`, seconds: 1 })
    const requests = answerBytes === undefined ? result.requests : result.bytes / answerBytes
    return { ...result, cpuMicroseconds: (cpuNanoseconds(pid) - before) / 1000 / requests }
  }
  await turn(servers.bare)
  await turn(servers.own)
  const seen: { readonly bare: Turn; readonly own: Turn }[] = []
  for (let round = 0; round < rounds; round++) {
    const turns: Turn[] = []
    for (const server of ['bare', 'own', 'own', 'bare'] as const) {
      turns.push(await turn(servers[server]))
    }
    const [first, second, third, fourth] = turns as [Turn, Turn, Turn, Turn]
    seen.push({ bare: mean(first, fourth), own: mean(second, third) })
  }
  const middle = (of: (round: (typeof seen)[number]) => number): number => median(seen.map(of))
  return {
    cpuRatio: middle(({ bare, own }) => bare.cpuMicroseconds / own.cpuMicroseconds),
    throughputRatio: middle(({ bare, own }) => own.bytesPerSecond / bare.bytesPerSecond),
    cpuMicroseconds: middle(({ own }) => own.cpuMicroseconds),
    bareCpuMicroseconds: middle(({ bare }) => bare.cpuMicroseconds),
    p50Ms: middle(({ own }) => own.p50Ms),
    p99Ms: middle(({ own }) => own.p99Ms),
  }
}

function mean(a: Turn, b: Turn): Turn {
  const half = (of: (turn: Turn) => number): number => (of(a) + of(b)) / 2
  return {
    requests: a.requests + b.requests,
    bytes: a.bytes + b.bytes,
    requestsPerSecond: half((turn) => turn.requestsPerSecond),
    bytesPerSecond: half((turn) => turn.bytesPerSecond),
    cpuMicroseconds: half((turn) => turn.cpuMicroseconds),
    p50Ms: half((turn) => turn.p50Ms),
    p99Ms: half((turn) => turn.p99Ms),
  }
}
