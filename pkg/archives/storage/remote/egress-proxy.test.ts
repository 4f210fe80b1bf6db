import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { proxyRules } from '../../../base/http/http.ts'
import { createPlaces } from '../places.ts'

/** A proxy that records its targets and connects to none. */
const asked: string[] = []
const proxy = createServer((request, response) => {
  asked.push(request.url ?? '')
  response.writeHead(403).end()
})
proxy.on('connect', ({ url }, socket) => {
  asked.push(url ?? '')
  socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((done) => {
    proxy.listen(0, '127.0.0.1', done)
  })
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
})
afterAll(() => {
  proxy.closeAllConnections()
  proxy.close()
})

const azureKey = Buffer.from('key').toString('base64')

/** Opens an archive of each backend, each at a host that only the proxy could resolve. */
function open(backend: string, environment: Readonly<Record<string, string>>, s3Endpoint?: string) {
  const places = createPlaces({
    filesystemMountPath: '/nowhere',
    s3: { endpoint: s3Endpoint, accessKeyId: 'a', secretAccessKey: 'b' },
    azure: {
      connectionString: `DefaultEndpointsProtocol=https;AccountName=account;AccountKey=${azureKey};EndpointSuffix=core.windows.net`,
    },
    gcs: { endpoint: 'http://gcs.example' },
    proxies: proxyRules(environment),
    timings: { connectMs: 2000, firstByteMs: 2000, backoffMs: 1 },
  })
  const storage = {
    s3: { s3: { bucket: 'bucket', region: 'eu-west-1' } },
    azure: {
      azureStorage: {
        accountName: 'account',
        accountUrl: 'https://account.blob.core.windows.net',
        subscriptionID: 'subscription',
        resourceGroup: 'group',
      },
    },
    gcs: { gcs: { bucket: 'bucket' } },
  }[backend]
  if (storage === undefined) throw new Error(`there is no ${backend}`)
  const place = places({ storage, configName: 'vpc', fileName: '1.zip' })
  return place.driver.open(place.object)
}

describe('traffic to the storage goes through the egress proxy', () => {
  it.each([
    ['s3', 'HTTPS_PROXY', /^(?:bucket\.)?s3\.eu-west-1\.amazonaws\.com:443$/],
    ['azure', 'HTTPS_PROXY', /^account\.blob\.core\.windows\.net:443$/],
    ['gcs', 'HTTP_PROXY', /gcs\.example/],
  ])('for %s, with %s', async (backend, variable, host) => {
    asked.length = 0
    await expect(open(backend, { [variable]: url })).rejects.toThrow('the archive storage')
    expect(asked[0]).toMatch(host)
  })

  it('unless NO_PROXY names the host', async () => {
    asked.length = 0
    const environment = { HTTP_PROXY: url, NO_PROXY: '.invalid' }
    await expect(open('s3', environment, 'http://s3.invalid')).rejects.toThrow(
      'the archive storage',
    )
    expect(asked).toEqual([])
  })
})
