import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { moduleObjects, Registry } from '../hack/testbed/registry/registry.ts'
import { startServer } from '../hack/testbed/server/server.ts'

/** More than the kernel buffers for a client that does not read. */
const sizeBytes = 12 * 1024 * 1024
const registry = new Registry()
afterAll(() => registry.remove())

it('SIGTERM aborts none of 200 downloads', async () => {
  const archive = randomBytes(sizeBytes)
  const sha256 = createHash('sha256').update(archive).digest('hex')
  registry.archive('modules/large/large.zip', archive)
  registry.write(
    'large.yaml',
    moduleObjects({ name: 'large', versions: [{ version: '1.0.0', fileName: 'large.zip' }] }),
  )
  const server = await startServer(registry, '--shutdown-grace-period', '120s')
  const url = `${server.url}/depot/modules/v1/platform/large/any/1.0.0/download`
  const archiveUrl = (await fetch(url)).headers.get('x-terraform-get') ?? ''

  const downloads = await Promise.all(Array.from({ length: 200 }, () => begin(archiveUrl)))
  const stopped = server.stop()
  await expect.poll(() => server.log.some((line) => line.includes('"msg":"stopping"'))).toBe(true)
  const ended = () => server.log.filter((line) => line.includes('large.zip')).length
  expect(ended(), 'downloads that had ended before SIGTERM').toBe(0)
  const ends = await Promise.all(downloads.map((download) => slowlyRead(download)))

  expect(new Set(ends)).toEqual(new Set([`${sizeBytes} bytes, ${sha256}`]))
  expect(await stopped).toBe(0)
  expect(ended()).toBe(200)
})

/** Resolves at the first byte. Nothing more is read until the test does. */
async function begin(url: string): Promise<IncomingMessage> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
  await once(answer, 'readable')
  return answer
}

async function slowlyRead(download: IncomingMessage): Promise<string> {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of download as AsyncIterable<Buffer>) {
      hash.update(chunk)
      bytes += chunk.length
      await sleep(1)
    }
  } catch (err) {
    return `cut after ${bytes} bytes: ${String(err)}`
  }
  return `${bytes} bytes, ${hash.digest('hex')}`
}
