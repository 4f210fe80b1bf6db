import { cpuModes, cpuNanoseconds } from './cpu.ts'
import { keepOnOneProcessor } from './one-processor.ts'
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
  /** Between which half of all rounds were. */
  readonly cpuRatioSpread: readonly [lower: number, upper: number]
  /** Bytes per second, ours divided by the bare server's. */
  readonly throughputRatio: number
  /** CPU time of a request, in microseconds. */
  readonly cpuMicroseconds: number
  readonly bareCpuMicroseconds: number
  /** How much of the CPU time is spent outside of the kernel, 0 to 1. */
  readonly userShare: number
  readonly bareUserShare: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Turn extends WrkResult {
  readonly cpuMicroseconds: number
  readonly user: number
  readonly system: number
}

/** Long enough for a few thousand answers, and short enough that both servers meet the same neighbours. */
const turnSeconds = 0.5
/** V8 compiles what is called often; on a busy machine a second is over before that has happened. */
const warmRequests = 40_000
const mostWarmTurns = 20

/**
 * Compares what a request costs two servers, in rounds of bare, ours, ours, bare: what else the machine does falls on both.
 * A ratio is taken within a round, and the median over all rounds.
 */
export async function compareCost(
  servers: { readonly bare: Measured; readonly own: Measured },
  load: Omit<WrkLoad, 'url' | 'seconds'> & {
    readonly path: string
    /** Bytes of one answer, if a turn ends after few of them: then bytes are counted instead of complete answers. */
    readonly answerBytes?: number
  },
  rounds = 14,
): Promise<Cost> {
  const { path, answerBytes, ...rest } = load
  const seconds = answerBytes === undefined ? turnSeconds : 1
  const turn = async ({ port, pid }: Measured): Promise<Turn> => {
    const [before, modesBefore] = [cpuNanoseconds(pid), cpuModes(pid)]
    const result = await wrk({ ...rest, url: `http://127.0.0.1:${port}${path}`, seconds })
    const requests = answerBytes === undefined ? result.requests : result.bytes / answerBytes
    const modes = cpuModes(pid)
    return {
      ...result,
      cpuMicroseconds: (cpuNanoseconds(pid) - before) / 1000 / requests,
      user: modes.user - modesBefore.user,
      system: modes.system - modesBefore.system,
    }
  }
  for (const server of [servers.bare, servers.own]) {
    keepOnOneProcessor(server.pid)
    let answered = 0
    const wanted = answerBytes === undefined ? warmRequests : 1
    for (let turns = 0; turns < mostWarmTurns && answered < wanted; turns++) {
      answered += (await turn(server)).requests
    }
  }
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
  const ratios = seen
    .map(({ bare, own }) => bare.cpuMicroseconds / own.cpuMicroseconds)
    .toSorted((a, b) => a - b)
  const quarter = Math.floor((ratios.length - 1) / 4)
  const at = (index: number): number => ratios.at(index) ?? Number.NaN
  return {
    cpuRatio: median(ratios),
    cpuRatioSpread: [at(quarter), at(-1 - quarter)],
    userShare: shareOf(seen.map(({ own }) => own)),
    bareUserShare: shareOf(seen.map(({ bare }) => bare)),
    throughputRatio: middle(({ bare, own }) => own.bytesPerSecond / bare.bytesPerSecond),
    cpuMicroseconds: middle(({ own }) => own.cpuMicroseconds),
    bareCpuMicroseconds: middle(({ bare }) => bare.cpuMicroseconds),
    p50Ms: middle(({ own }) => own.p50Ms),
    p99Ms: middle(({ own }) => own.p99Ms),
  }
}

function shareOf(turns: readonly Turn[]): number {
  const user = turns.reduce((sum, turn) => sum + turn.user, 0)
  return user / turns.reduce((sum, turn) => sum + turn.user + turn.system, 0)
}

function mean(a: Turn, b: Turn): Turn {
  const half = (of: (turn: Turn) => number): number => (of(a) + of(b)) / 2
  return {
    requests: a.requests + b.requests,
    bytes: a.bytes + b.bytes,
    requestsPerSecond: half((turn) => turn.requestsPerSecond),
    bytesPerSecond: half((turn) => turn.bytesPerSecond),
    cpuMicroseconds: half((turn) => turn.cpuMicroseconds),
    user: a.user + b.user,
    system: a.system + b.system,
    p50Ms: half((turn) => turn.p50Ms),
    p99Ms: half((turn) => turn.p99Ms),
  }
}

/** Figures of a line in addition to the ratio. */
export function summaryOf(cost: Cost): string {
  const [lower, upper] = cost.cpuRatioSpread
  const of = (microseconds: number, share: number): string =>
    `${microseconds.toFixed(1)} us (${(microseconds * share).toFixed(1)} user)`
  return `half of the rounds ${lower.toFixed(2)} to ${upper.toFixed(2)}; ${of(cost.bareCpuMicroseconds, cost.bareUserShare)} bare, ${of(cost.cpuMicroseconds, cost.userShare)} Depot; throughput ${cost.throughputRatio.toFixed(2)}; p99 ${cost.p99Ms.toFixed(1)} ms`
}
