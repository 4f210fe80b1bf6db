import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Registry } from '../registry/registry.ts'
import { startServer } from '../server/server.ts'
import type { Sample } from './manifests.ts'

/** Gives a registry downloads as a year of use leaves them. No server of it may run. */
export async function fillDownloads(registry: Registry, samples: readonly Sample[]): Promise<void> {
  // A server makes the file.
  await (await startServer(registry)).stop()
  const database = new DatabaseSync(join(registry.dir, 'stats.db'))
  const insert = database.prepare('INSERT INTO downloads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const hour = database.prepare('INSERT INTO hours VALUES (?, ?, ?, ?, ?)')
  const now = Math.floor(Date.now() / 3_600_000)
  let revision = 1
  for (const [at, { kind, namespace, name, versions, platforms = [''] }] of samples.entries()) {
    const kindName = kind === 'module' ? 'Module' : 'Provider'
    for (let days = 0; days < 30; days += 1) {
      const count = 20 + ((days * 37 + at * 11) % 53) + (days % 7 < 5 ? 60 : 0)
      hour.run(kindName, namespace, name, now - days * 24, count)
    }
    for (const [age, version] of versions.entries()) {
      const [os = '', arch = ''] = (platforms[0] ?? '').split('/')
      const count = Math.round(
        (90_000 / (1 + ((at * 7) % 13)) ** 2 / (1 + age)) * (kind === 'module' ? 1 : 3),
      )
      const lastAt = Date.now() - (age * 37 + at * 3 + 1) * 60_000
      insert.run(kindName, namespace, name, version, os, arch, count, lastAt, revision)
      revision += 1
    }
  }
  database.close()
}
