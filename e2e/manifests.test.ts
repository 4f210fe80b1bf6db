import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { zipOf } from '../hack/testbed/registry/archives.ts'
import { moduleObjects, Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'

const registry = new Registry()
let server: Server

const objects = (name: string, ...versions: string[]) =>
  moduleObjects({
    name,
    versions: versions.map((version) => ({ version, fileName: `${version}.zip` })),
  })

beforeAll(async () => {
  const archive = await zipOf([{ path: 'main.tf', content: Buffer.from('') }])
  for (const name of ['steady', 'moving', 'passing', 'later']) {
    for (const version of ['1.0.0', '1.1.0']) {
      registry.archive(`modules/${name}/${version}.zip`, archive)
    }
  }
  registry.write('steady.yaml', objects('steady', '1.0.0'))
  registry.write('moving.yaml', objects('moving', '1.0.0'))
  server = await startServer(registry)
  return server.stop
})
afterAll(() => registry.remove())

const versionsUrl = (name: string) => `${server.url}/depot/modules/v1/platform/${name}/any/versions`

async function versionsOf(name: string): Promise<string[] | number> {
  const answer = await fetch(versionsUrl(name))
  if (!answer.ok) return answer.status
  const { modules } = (await answer.json()) as { modules: [{ versions: { version: string }[] }] }
  return modules[0].versions.map(({ version }) => version)
}

/** Reads both modules repeatedly until it is stopped, and returns every failed answer. */
function readAllTheTime() {
  let step = 'the start'
  const failures = new Set<string>()
  let reads = 0
  const end = new AbortController()
  const readers = ['steady', 'moving', 'steady', 'moving'].map(async (name) => {
    while (!end.signal.aborted) {
      const versions = await versionsOf(name).catch(String)
      if (!Array.isArray(versions) || !versions.includes('1.0.0'))
        failures.add(`after ${step}, ${name}: ${String(versions)}`)
      reads += 1
      await setImmediate()
    }
  })
  const during = (what: string) => {
    step = what
  }
  const stop = async () => {
    end.abort()
    await Promise.all(readers)
    expect(reads).toBeGreaterThan(10)
    expect(failures).toEqual(new Set())
  }
  return { during, stop }
}

describe('a folder of manifests that changes while it is served', () => {
  const steps: { what: string; step: () => void; name: string; leaves: string[] | number }[] = [
    {
      what: 'a file is added',
      step: () => registry.write('more/passing.yaml', objects('passing', '1.0.0')),
      name: 'passing',
      leaves: ['1.0.0'],
    },
    {
      what: 'a file is changed',
      step: () => registry.write('moving.yaml', objects('moving', '1.0.0', '1.1.0')),
      name: 'moving',
      leaves: ['1.1.0', '1.0.0'],
    },
    {
      what: 'a file is renamed',
      step: () => {
        rename('moving.yaml', 'moved.yaml')
        // A rename changes no answer. The next step shows that it was noticed.
        registry.write('later.yaml', objects('later', '1.0.0'))
      },
      name: 'later',
      leaves: ['1.0.0'],
    },
    {
      what: 'a file is broken',
      step: () => registry.writeText('moved.yaml', 'kind: Module\n  metadata: ['),
      name: 'moving',
      leaves: ['1.1.0', '1.0.0'],
    },
    {
      what: 'a file is fixed',
      step: () => registry.write('moved.yaml', objects('moving', '1.0.0')),
      name: 'moving',
      leaves: ['1.0.0'],
    },
    {
      what: 'a file is deleted',
      step: () => rmSync(join(registry.manifests, 'more/passing.yaml')),
      name: 'passing',
      leaves: 404,
    },
  ]

  it('fails no read', async () => {
    const reading = readAllTheTime()
    for (const { what, step, name, leaves } of steps) {
      const mark = server.log.length
      reading.during(what)
      step()
      await expect.poll(() => versionsOf(name), { message: what }).toEqual(leaves)
      if (what === 'a file is broken') await untilLogged('moved.yaml', mark)
    }
    await reading.stop()
  })
})

function rename(from: string, to: string): void {
  renameSync(join(registry.manifests, from), join(registry.manifests, to))
}

/** A broken file changes no answer. Only the log mentions it. */
async function untilLogged(text: string, mark: number): Promise<void> {
  await expect.poll(() => server.log.slice(mark).some((line) => line.includes(text))).toBe(true)
}
