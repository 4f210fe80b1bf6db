import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { digestOf } from './registry.ts'

/*
 * `make image-lock`: asks the registries for the digests that the tags of the bases and of the chart's images have now,
 * and writes them into the Dockerfile and the tables of the chart.
 */

const image = String.raw`[a-z0-9.:-]+/[\w./-]+`

/** `name:tag@sha256:…`, as the Dockerfile has it. */
const inDockerfile = new RegExp(
  `(^ARG \\w+_BASE=)(${image}):([\\w.-]+)(@sha256:[0-9a-f]{64})?$`,
  'gm',
)

/** `repository: 'name', tag: 'tag'`, with or without a digest after it, as the chart's tables have it. */
const inTable = new RegExp(
  `(repository: ')(${image})(',\\s*tag: ')([\\w.-]+)'(,\\s*digest: 'sha256:[0-9a-f]{64}')?`,
  'g',
)

type Ask = (repository: string, tag: string) => Promise<string>

/** The text with the digest of each tag in it. */
export async function locked(text: string, ask: Ask): Promise<string> {
  const digests = new Map<string, string>()
  const tags = [
    ...[...text.matchAll(inDockerfile)].map(([, , repository, tag]) => [repository, tag]),
    ...[...text.matchAll(inTable)].map(([, , repository, , tag]) => [repository, tag]),
  ]
  for (const [repository = '', tag = ''] of tags)
    digests.set(`${repository}:${tag}`, await ask(repository, tag))
  const digest = (repository: string, tag: string) => digests.get(`${repository}:${tag}`) ?? ''
  return text
    .replace(inDockerfile, (_, before, name, tag) => `${before}${name}:${tag}@${digest(name, tag)}`)
    .replace(
      inTable,
      (_, before, name, between, tag) =>
        `${before}${name}${between}${tag}', digest: '${digest(name, tag)}'`,
    )
}

const files = ['Dockerfile', 'hack/chart/values/broker.ts', 'hack/chart/values/valkey.ts']

if (import.meta.main) {
  const repository = resolve(import.meta.dirname, '../..')
  for (const file of files) {
    const path = join(repository, file)
    const before = readFileSync(path, 'utf8')
    const after = await locked(before, digestOf)
    if (after === before) continue
    writeFileSync(path, after)
    console.log(`wrote ${file}`)
  }
}
