import type { Answer } from './bare.ts'
import { documentedModule, type Fixture } from './folder.ts'
import { record, type Target } from './processes.ts'
import { jsonCases, uncachedCases } from './registry.ts'
import type { WrkLoad } from './wrk.ts'

/** An answer that is measured beside a bare server. */
export interface BenchCase extends Pick<WrkLoad, 'connections' | 'unique'> {
  readonly name: string
  readonly path: string
  /** The CPU ratio that is wanted. */
  readonly leastRatio: number
  /** Whether it is the same in registries of other sizes, and kept. */
  readonly isCached: boolean
  /** Given where few answers fit into a turn; see `compareCost`. */
  readonly answerBytes?: number
  /** Answer of the bare server. */
  readonly answer: Answer
}

/** Every case of a registry that was made for the benchmark, as a server answers it. */
export async function benchCases(own: Target, fixture: Fixture): Promise<BenchCase[]> {
  const cases: BenchCase[] = []
  for (const { name, path } of jsonCases) {
    const answer = await record(own.port, path)
    cases.push({ name, path, leastRatio: 0.9, connections: 32, isCached: true, answer })
  }
  for (const { name, path } of uncachedCases) {
    const answer = await record(own.port, path)
    const load = { leastRatio: 0.5, connections: 32, unique: true, isCached: false }
    cases.push({ name, path, ...load, answer })
  }
  const docsPath = `/depot/ui/v1/resources/bench/module/${documentedModule}/docs`
  cases.push({
    name: 'browse: documentation, 300 inputs',
    path: docsPath,
    leastRatio: 0.9,
    connections: 32,
    isCached: false,
    answer: await record(own.port, docsPath),
  })
  for (const { name, file, sizeBytes, downloadPath } of fixture.archiveCases) {
    const path = await archivePath(own, downloadPath)
    const answer = await record(own.port, path)
    const isLarge = sizeBytes > 10_000_000
    const load = isLarge
      ? { leastRatio: 1.5, connections: 4, answerBytes: sizeBytes }
      : { leastRatio: 0.9, connections: 32 }
    const given = isLarge ? { path, headers: answer.headers, file } : answer
    cases.push({ name, path, ...load, isCached: false, answer: given })
  }
  return cases
}

/** The archive endpoint of a module, as a CLI learns it. */
async function archivePath({ port }: Target, downloadPath: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${downloadPath}`)
  const { pathname, search } = new URL(response.headers.get('x-terraform-get') ?? '')
  return pathname + search
}
