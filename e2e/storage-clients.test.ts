import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, symlinkSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Server as TcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { moduleObjects, Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'

const registry = new Registry()
const bytes = randomBytes(600_000)
const sha256 = createHash('sha256').update(bytes).digest('hex')
const root = '/depot/modules/v1/download'
const path = `${root}/fileSystem/modules/vpc/vpc.zip?fileChecksum=${sha256}`
const apiVersion = 'depot.internal/v1alpha1'
let server: Server
let canary: TcpServer
let canaryConnections = 0
let canaryUrl: string

/** A module whose storage is only chosen by its own manifest. */
const elsewhere = (name: string, storageConfig: object) => {
  const moduleConfig = { name, storageConfig }
  const metadata = { name, namespace: 'attack' }
  const spec = {
    type: 'Module',
    version: '1.0.0',
    fileName: 'x.zip',
    moduleConfigRef: moduleConfig,
  }
  const status = { checksum: sha256, synced: true }
  return [
    { apiVersion, kind: 'Module', metadata, spec: { moduleConfig } },
    { apiVersion, kind: 'Version', metadata, spec, status },
  ]
}

beforeAll(async () => {
  canary = createServer((socket) => {
    canaryConnections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(canary, 'listening')
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`
  registry.archive('modules/vpc/vpc.zip', bytes)
  symlinkSync('/etc/passwd', `${registry.archives}/modules/vpc/passwd.zip`)
  registry.write('vpc.yaml', [
    ...moduleObjects({
      name: 'vpc',
      versions: [
        { version: '1.0.0', fileName: 'vpc.zip', checksum: sha256 },
        { version: '2.0.0', fileName: 'passwd.zip', checksum: sha256 },
        { version: '3.0.0', fileName: '../../../etc/passwd', checksum: sha256 },
      ],
    }),
    ...elsewhere('azure-host', { azureStorage: azure(canaryUrl) }),
    ...elsewhere('azure-name', { azureStorage: azure(`${canaryUrl}/acc.blob.core.windows.net`) }),
    ...elsewhere('azure-user', {
      azureStorage: azure(`https://acc.blob.core.windows.net@${new URL(canaryUrl).host}`),
    }),
    ...elsewhere('s3-region', { s3: { bucket: 'bucket', region: `${new URL(canaryUrl).host}/` } }),
    ...elsewhere('s3-bucket', {
      s3: { bucket: `${new URL(canaryUrl).host}/x`, region: 'eu-west-1' },
    }),
    ...elsewhere('gcs-bucket', { gcs: { bucket: `../${new URL(canaryUrl).host}` } }),
  ])
  Object.assign(registry.environment, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  server = await startServer(registry)
})
afterAll(async () => {
  await server?.stop()
  canary.close()
  registry.remove()
})

const azure = (accountUrl: string) => ({
  accountName: 'acc',
  accountUrl,
  subscriptionID: 'sub',
  resourceGroup: 'rg',
})

/** A GET of exactly this path, without normalisation. */
async function statusOf(rawPath: string, headers: Record<string, string> = {}): Promise<number> {
  const { hostname, port } = new URL(server.url)
  const asked = request({ hostname, port, path: rawPath, headers }).end()
  const [response] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }]
  response.resume()
  await once(response as unknown as NodeJS.EventEmitter, 'end')
  return response.statusCode
}

describe('a Version cannot make the server fetch another address', () => {
  const checksum = `fileChecksum=${sha256}`
  it.each([
    `/s3/bucket/eu-west-1/vpc/vpc.zip?${checksum}`,
    `/gcs/bucket/vpc/vpc.zip?${checksum}`,
    `/fileSystem/modules/vpc/../../../etc/passwd?${checksum}`,
    `/fileSystem/modules/vpc/..%2f..%2f..%2fetc%2fpasswd?${checksum}`,
    `/fileSystem/modules/vpc/%252e%252e%252fpasswd?${checksum}`,
    `/fileSystem/..%2f..%2fetc/vpc/passwd?${checksum}`,
    `/fileSystem/%2fetc/vpc/passwd?${checksum}`,
    `/fileSystem/modules/vpc/passwd.zip?${checksum}`,
    `/fileSystem/modules/vpc/..%2F..%2F..%2Fetc%2Fpasswd?${checksum}`,
    `/fileSystem/modules/vpc/vpc.zip%00?${checksum}`,
    `/fileSystem/modules/vpc/vpc.zip?fileChecksum=${'0'.repeat(64)}`,
    `/fileSystem/modules/vpc/vpc.zip?fileChecksum=${'０'.repeat(64)}`,
    `/fileSystem/modules/vpc/vpc.zip?fileChecksum[]=${sha256}`,
    '/fileSystem/modules/vpc/vpc.zip',
  ])('%s is 404', async (attack) => {
    expect(await statusOf(root + encodeURI(attack).replaceAll('%25', '%'))).toBe(404)
  })

  it.each([
    'azure/sub/rg/acc/{canary}/vpc/vpc.zip',
    'azure/sub/rg/acc/{canary}/azure-user/x.zip',
    's3/{canary}/eu-west-1/vpc/vpc.zip',
    's3/bucket/{canary}/vpc/vpc.zip',
    'gcs/{canary}/vpc/vpc.zip',
    'fileSystem/{canary}/vpc/vpc.zip',
  ])('%s reaches no other server', async (attack) => {
    const named = attack.replace('{canary}', encodeURIComponent(canaryUrl))
    expect(await statusOf(`${root}/${named}?${checksum}`)).toBe(404)
    expect(canaryConnections).toBe(0)
  })

  it.each(['azure-host', 'azure-name', 'azure-user', 's3-region', 's3-bucket', 'gcs-bucket'])(
    'not even the author of a module: %s',
    async (name) => {
      const download = `${server.url}/depot/modules/v1/attack/${name}/aws/1.0.0/download`
      const url = (await fetch(download)).headers.get('x-terraform-get') ?? ''
      const response = await fetch(url)
      expect(response.status).toBe(404)
      expect(await response.text()).not.toContain('127.0.0.1')
      expect(canaryConnections).toBe(0)
    },
  )
})

const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length

async function rssMb(): Promise<number> {
  const text = await (await fetch(`${server.adminUrl}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6
}

/** Sends a request by hand, reads some of the answer and disconnects, or disconnects without reading. */
async function leaveEarly(readBytes: number, headers: string): Promise<void> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  if (readBytes === 0) await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: depot.test\r\nConnection: close\r\n${headers}\r\n`)
  if (readBytes === 0) {
    socket.destroySoon()
    return
  }
  let seenBytes = 0
  for await (const chunk of socket) {
    seenBytes += (chunk as Buffer).length
    if (seenBytes >= readBytes) break
  }
  socket.destroy()
}

const oddRanges = [
  'bytes=0-0,5-6',
  'bytes=9-3',
  'bytes=99999999-',
  'bytes=-0',
  'bytes=0-',
  'bytes=599999-',
  'bytes=a-b',
  `bytes=${'1-2,'.repeat(500)}3-4`,
]

describe('clients that misbehave', () => {
  it('leave nothing behind after 10,000 odd ranges and early ends', async () => {
    const round = async (count: number) => {
      for (let done = 0; done < count; done += 50) {
        await Promise.all(
          Array.from({ length: 50 }, async (_, index) => {
            const range = oddRanges[(done + index) % oddRanges.length] ?? ''
            if (index % 2 === 0) return leaveEarly((index % 5) * 50_000, `Range: ${range}\r\n`)
            return statusOf(path, { range, connection: 'close' })
          }),
        )
      }
    }
    await round(1000)
    const before = { descriptors: descriptors(), rssMb: await rssMb() }
    await round(10_000)
    await expect.poll(descriptors).toBeLessThanOrEqual(before.descriptors + 5)
    expect((await rssMb()) - before.rssMb).toBeLessThan(60)
  })

  it('leave no file open when they request many at once and disconnect', async () => {
    const before = descriptors()
    const { hostname, port } = new URL(server.url)
    for (let count = 0; count < 100; count += 1) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(`GET ${path} HTTP/1.1\r\nHost: depot.test\r\n\r\n`.repeat(5))
      await once(socket, 'data')
      socket.destroy()
    }
    await expect.poll(descriptors).toBeLessThanOrEqual(before + 5)
  })

  it('use little memory when they stop reading, and others continue', async () => {
    const before = await rssMb()
    const { hostname, port } = new URL(server.url)
    const stuck = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {})
        socket.write(`GET ${path} HTTP/1.1\r\nHost: depot.test\r\n\r\n`)
        await once(socket, 'readable')
        return socket
      }),
    )
    expect(await statusOf(path)).toBe(200)
    expect((await rssMb()) - before).toBeLessThan(100)
    for (const socket of stuck) socket.destroy()
    const held = descriptors()
    await expect.poll(descriptors).toBeLessThan(Math.max(held, 60))
  })
})
