import { once } from 'node:events'
import { request } from 'node:http'
import { parseArgs } from 'node:util'
import { startKnownCallers } from './known-callers.ts'
import { record, startBare, startLoad } from './processes.ts'
import { measure, median } from './rounds.ts'

/*
 * Measures the cost of known callers: a module's list of versions, asked for with many tokens in turn and under many
 * GroupBindings, beside a bare server of node:http that gives everyone the same answer.
 */

const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '1000' },
    bindings: { type: 'string', default: '10000' },
    turns: { type: 'string', default: '12' },
    quick: { type: 'boolean', default: false },
  },
})
const turns = values.quick ? 4 : Number(values.turns)
const path = '/depot/modules/v1/bench/small/aws/versions'
const connections = 32
const turnMs = 400

const server = await startKnownCallers(Number(values.tokens), Number(values.bindings))
const { port, authorizations } = server
const bare = await startBare()
const load = await startLoad()

/** Each token for the first time, one after the other over one connection, in milliseconds. */
async function firstRequests(): Promise<number[]> {
  const times: number[] = []
  for (const authorization of authorizations) {
    const start = performance.now()
    const asked = request({ port, path, host: '127.0.0.1', headers: { authorization } }).end()
    const [response] = await once(asked, 'response')
    response.resume()
    await once(response, 'end')
    times.push(performance.now() - start)
  }
  return times
}

try {
  const first = await firstRequests()
  const again = await firstRequests()
  await bare.teach(await record(port, path, authorizations[0]))
  const against = (target: number, durationMs: number) => () =>
    load.run({ port: target, path, connections, durationMs, authorizations })
  await measure([against(bare.port, 1500), against(port, 1500)], 1)
  const [bareFigures, figures] = await measure(
    [against(bare.port, turnMs), against(port, turnMs)],
    turns,
  )
  const ms = (value = Number.NaN) => value.toFixed(2)
  console.log(`A module's versions, ${values.tokens} tokens in turn, ${values.bindings} GroupBindings:
  Depot ${Math.round(figures?.requestsPerSecond ?? 0)}/s, bare ${Math.round(bareFigures?.requestsPerSecond ?? 0)}/s, ratio ${ms(figures?.ratio)} (goal 0.75)
  p50 ${ms(figures?.p50Ms)} ms, p99 ${ms(figures?.p99Ms)} ms
  one request over one connection: ${ms(median(first))} ms for a new token, ${ms(median(again))} ms for a known one`)
} finally {
  load.stop()
  bare.stop()
  server.stop()
}
