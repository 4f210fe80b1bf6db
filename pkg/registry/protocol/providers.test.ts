import { createMessage, readKey, readSignature, verify } from 'openpgp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Fixture } from '../server/registry.fixture.ts'

const fixture = new Fixture()
afterAll(() => fixture[Symbol.dispose]())

const platform = (operatingSystem: string, architecture: string) => ({
  spec: { operatingSystem, architecture },
})
fixture.provider('hello')
const arm = fixture.version('Provider', 'hello', '1.0.0', platform('linux', 'arm64'))
const amd = fixture.version('Provider', 'hello', '1.0.0', platform('linux', 'amd64'))
const darwin = fixture.version('Provider', 'hello', 'v1.0.0', platform('darwin', 'arm64'))
fixture.version('Provider', 'hello', '2.0.0', {
  spec: { operatingSystem: 'linux', architecture: 'amd64', protocols: ['6.0'] },
})
fixture.version('Provider', 'hello', 'nightly', platform('linux', 'amd64'))
fixture.version('Provider', 'hello', '3.0.0', {
  ...platform('linux', 'amd64'),
  status: { checksum: undefined },
})
fixture.provider('six', { protocols: ['6.0', '5.0'] })
fixture.version('Provider', 'six', '1.0.0', platform('linux', 'amd64'))
const upstream = ['a', 'b', 'c'].map((digit) => digit.repeat(64))
fixture.provider('pulled')
fixture.version('Provider', 'pulled', '1.0.0', {
  ...platform('linux', 'amd64'),
  status: {
    checksum: upstream[0],
    artifact: {
      fileName: 'pulled_linux-aaaaaaaaaaaa.zip',
      hashes: ['h1:x=', ...upstream.map((sha256) => `zh:${sha256}`), 'zh:nonsense\n'],
    },
  },
})
fixture.provider('empty')
fixture.provider('bare')
fixture.version('Provider', 'bare', '1.0.0')

const root = '/depot/providers/v1'
const unsigned = fixture.app()
let app = unsigned
beforeAll(async () => {
  await fixture.withSigner()
  app = fixture.app()
})
const json = async (path: string) => (await app.request(`${root}/${path}`)).json()

describe('provider versions', () => {
  it('list each version once, with all its platforms', async () => {
    expect(await json('platform/hello/versions')).toEqual({
      versions: [
        { version: '2.0.0', protocols: ['6.0'], platforms: [{ os: 'linux', arch: 'amd64' }] },
        {
          version: '1.0.0',
          protocols: ['5.0'],
          platforms: [
            { os: 'darwin', arch: 'arm64' },
            { os: 'linux', arch: 'amd64' },
            { os: 'linux', arch: 'arm64' },
          ],
        },
      ],
    })
  })

  it('take the protocols of the provider', async () => {
    expect(await json('platform/six/versions')).toMatchObject({
      versions: [{ protocols: ['6.0', '5.0'] }],
    })
  })

  it('are an empty list if nothing can be downloaded', async () => {
    expect(await json('platform/empty/versions')).toEqual({ versions: [] })
  })

  it('are 404 for an unknown provider', async () => {
    const response = await app.request(`${root}/platform/nope/versions`)
    expect(response.status).toBe(404)
  })
})

describe('package metadata', () => {
  it('describes the platform that was asked for', async () => {
    const path = 'platform/hello/1.0.0/download/linux/arm64'
    expect(await json(path)).toEqual({
      protocols: ['5.0'],
      os: 'linux',
      arch: 'arm64',
      filename: 'hello_1.0.0_linux_arm64.zip',
      download_url: `http://localhost${root}/download/platform/hello/1.0.0?os=linux&arch=arm64&sha256=${arm}`,
      shasum: arm,
      shasums_url: `http://localhost${root}/platform/hello/1.0.0/SHA256SUMS/linux/arm64?sha256=${arm}`,
      shasums_signature_url: `http://localhost${root}/platform/hello/1.0.0/SHA256SUMS.sig/linux/arm64?sha256=${arm}`,
      signing_keys: {
        gpg_public_keys: [
          {
            key_id: expect.stringMatching(/^[0-9A-F]{16}$/),
            ascii_armor: expect.stringContaining('BEGIN PGP PUBLIC KEY BLOCK'),
          },
        ],
      },
    })
  })

  it('follows the base URL, the provider and its versions', async () => {
    using own = new Fixture()
    await own.withSigner()
    own.provider('hello')
    own.version('Provider', 'hello', '1.0.0', platform('linux', 'amd64'))
    const server = own.app()
    const metadata = async (host: string) => {
      const path = `${root}/platform/hello/1.0.0/download/linux/amd64`
      const response = await server.request(path, { headers: { host } })
      return (await response.json()) as {
        download_url: string
        protocols: string[]
        shasum: string
      }
    }
    const first = await metadata('a.example')
    expect(first.download_url).toMatch(/^http:\/\/a\.example\//)
    expect((await metadata('b.example')).download_url).toMatch(/^http:\/\/b\.example\//)
    own.provider('hello', { protocols: ['6.0'] })
    expect((await metadata('a.example')).protocols).toEqual(['6.0'])
    own.version('Provider', 'hello', '1.0.0', { ...platform('linux', 'amd64'), content: 'new' })
    expect((await metadata('a.example')).shasum).not.toBe(first.shasum)
  })

  it('says that a version has no platform', async () => {
    const response = await app.request(`${root}/platform/bare/1.0.0/download/linux/amd64`)
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining('it names no operatingSystem and architecture'),
    ])
    expect(await json('platform/bare/versions')).toEqual({ versions: [] })
  })

  it.each([
    [
      'platform',
      '1.0.0/download/windows/amd64',
      'is not built for windows/amd64, only for darwin/arm64, linux/amd64, linux/arm64',
    ],
    ['version', '9.0.0/download/linux/amd64', 'has no version 9.0.0'],
    ['archive', '3.0.0/download/linux/amd64', 'cannot be downloaded yet'],
  ])('is 404 for an unknown %s, and names the existing ones', async (_, path, message) => {
    const response = await app.request(`${root}/platform/hello/${path}`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ errors: [expect.stringContaining(message)] })
  })
})

describe('SHA256SUMS', () => {
  const sums = [
    `${darwin}  hello_v1.0.0_darwin_arm64.zip`,
    `${amd}  hello_1.0.0_linux_amd64.zip`,
    `${arm}  hello_1.0.0_linux_arm64.zip`,
  ]

  it('names every platform of the version', async () => {
    const response = await app.request(`${root}/platform/hello/1.0.0/SHA256SUMS/linux/amd64`)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    expect((await response.text()).split('\n').toSorted()).toEqual(['', ...sums].toSorted())
  })

  it('has the digests of platforms that only upstream has', async () => {
    const response = await app.request(`${root}/platform/pulled/1.0.0/SHA256SUMS/linux/amd64`)
    expect((await response.text()).trimEnd().split('\n')).toEqual([
      `${upstream[0]}  pulled_linux-aaaaaaaaaaaa.zip`,
      `${upstream[1]}  other-platform-bbbbbbbbbbbb.zip`,
      `${upstream[2]}  other-platform-cccccccccccc.zip`,
    ])
  })

  it('has a detached binary signature by the key in the metadata', async () => {
    const text = await app.request(`${root}/platform/hello/1.0.0/SHA256SUMS/linux/amd64`)
    const signature = await app.request(`${root}/platform/hello/1.0.0/SHA256SUMS.sig/linux/amd64`)
    const metadata = (await json('platform/hello/1.0.0/download/linux/amd64')) as {
      signing_keys: { gpg_public_keys: { ascii_armor: string }[] }
    }
    const armoredKey = metadata.signing_keys.gpg_public_keys[0]?.ascii_armor ?? ''
    const result = await verify({
      message: await createMessage({ text: await text.text() }),
      signature: await readSignature({
        binarySignature: new Uint8Array(await signature.arrayBuffer()),
      }),
      verificationKeys: await readKey({ armoredKey }),
    })
    await expect(result.signatures[0]?.verified).resolves.toBe(true)
  })

  it.each(['SHA256SUMS', 'SHA256SUMS.sig'])('%s is 404 for an unknown platform', async (file) => {
    const response = await app.request(`${root}/platform/hello/1.0.0/${file}/plan9/amd64`)
    expect(response.status).toBe(404)
  })

  it.each([
    ['1.0.0/SHA256SUMS.sig/linux/amd64', 501, 'signing metadata not configured'],
    ['1.0.0/download/linux/amd64', 501, 'signing metadata not configured'],
    ['1.0.0/SHA256SUMS/linux/amd64', 200, amd],
    ['versions', 200, '1.0.0'],
    ['1.0.0/SHA256SUMS.sig/plan9/amd64', 404, 'is not built for plan9/amd64'],
  ])('without a key, %s is %i', async (path, status, text) => {
    const response = await unsigned.request(`${root}/platform/hello/${path}`)
    expect([response.status, await response.text()]).toEqual([
      status,
      expect.stringContaining(text),
    ])
  })
})

describe('provider archive', () => {
  const archive = (query: string, version = '1.0.0') =>
    app.request(`${root}/download/platform/hello/${version}${query}`)

  it('is that of the platform', async () => {
    const response = await archive('?os=linux&arch=arm64')
    expect(response.headers.get('etag')).toBe(`"${arm}"`)
    expect(await response.text()).toBe('hello 1.0.0')
  })

  it('needs no platform if there is only one', async () => {
    expect((await archive('', '2.0.0')).status).toBe(200)
    expect((await archive('?os=darwin')).status).toBe(200)
  })

  it.each(['', '?os=linux', '?arch=arm64', '?os=plan9'])(
    'is 400 where %j leaves a choice',
    async (query) => {
      const response = await archive(query)
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({
        errors: [expect.stringContaining('there are darwin/arm64, linux/amd64, linux/arm64')],
      })
    },
  )

  it('is 404 for a missing platform', async () => {
    expect((await archive('?os=plan9&arch=amd64')).status).toBe(404)
  })
})
