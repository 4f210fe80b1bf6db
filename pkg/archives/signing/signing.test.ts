import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { rename, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createMessage,
  encryptKey,
  generateKey,
  type PrivateKey,
  readKey,
  readPrivateKey,
  readSignature,
  revokeKey,
  verify,
} from 'openpgp'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clock } from '../../base/pacing/pacing.ts'
import { createLogger, createMetrics, type Metrics } from '../../base/telemetry/telemetry.ts'
import { GnuPG } from './gnupg.fixture.ts'
import { generateSigningKey, loadSigner, type PublicKey, type Signer } from './signing.ts'

const owner = { name: 'Acme', email: 'acme@example.org' }
const passphrase = 'correct horse battery staple'
const text = `${'a'.repeat(64)}  terraform-provider-one_1.0.0_linux_amd64.zip\n`
const hourMs = 3_600_000

let rsa: PrivateKey
let dir: string
let path: string
let metrics: Metrics
let lines: string[]
const open: Signer[] = []

beforeAll(async () => {
  rsa = await readPrivateKey({ armoredKey: await generateSigningKey(owner) })
})
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'depot-signing-'))
  path = join(dir, 'private.asc')
  metrics = createMetrics({ version: 'test' })
  lines = []
})
afterEach(() => {
  for (const signer of open.splice(0)) signer.close()
  rmSync(dir, { recursive: true })
})

async function load(
  options: { passphrase?: string; clock?: Clock; metrics?: Metrics } = {},
): Promise<Signer> {
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  const signer = await loadSigner({
    privateKeyPath: path,
    log,
    metrics,
    pollIntervalMs: 10,
    ...options,
  })
  open.push(signer)
  return signer
}

async function signerOf(key: PrivateKey | string, options = {}): Promise<Signer> {
  await writeFile(path, typeof key === 'string' ? key : key.armor())
  return load(options)
}

/** Renames a complete file, as operators do. A file that is written in place is empty for a moment. */
async function replaceFile(content: string): Promise<void> {
  await writeFile(`${path}.new`, content)
  await rename(`${path}.new`, path)
}

/** A key of elliptic curves, which is fast to generate. */
async function curveKey(options: Partial<Parameters<typeof generateKey>[0]> = {}) {
  const made = await generateKey({
    type: 'ecc',
    curve: 'ed25519Legacy',
    userIDs: [owner],
    date: new Date(Date.now() - hourMs),
    ...options,
    format: 'object',
  })
  return { ...made, privateKey: made.privateKey }
}

/** Verifies like a client, with nothing but what the registry published. */
async function verified(signature: Uint8Array, [publicKey]: readonly PublicKey[]) {
  const { signatures } = await verify({
    message: await createMessage({ binary: Buffer.from(text) }),
    signature: await readSignature({ binarySignature: signature }),
    verificationKeys: await readKey({ armoredKey: publicKey?.ascii_armor ?? '' }),
  })
  return signatures[0]?.verified
}

describe('a signature', () => {
  it.each([
    { what: 'RSA', make: async () => rsa },
    { what: 'a curve', make: async () => (await curveKey()).privateKey },
    { what: 'a new curve', make: async () => (await curveKey({ type: 'curve25519' })).privateKey },
    {
      what: 'a subkey that signs',
      make: async () => (await curveKey({ subkeys: [{ sign: true }] })).privateKey,
    },
  ])('of $what is verified with the published key', async ({ make }) => {
    const key = await make()
    const signer = await signerOf(key)
    const [publicKey] = signer.publicKeys()
    expect(publicKey?.key_id).toBe(key.getKeyID().toHex().toUpperCase())
    expect(publicKey?.key_id).toMatch(/^[0-9A-F]{16}$/)
    expect(publicKey?.ascii_armor).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----\n/)
    const signature = await signer.sign(text)
    expect(await verified(signature, signer.publicKeys())).toBe(true)
    await expect(verified(await signer.sign('other'), signer.publicKeys())).rejects.toThrow(
      'Signed digest did not match',
    )
  })

  it('is backdated, so that clients with a slow clock accept it', async () => {
    const signer = await signerOf((await curveKey()).privateKey)
    const { packets } = await readSignature({ binarySignature: await signer.sign(text) })
    const created = packets[0]?.created?.getTime() ?? Number.NaN
    expect(Date.now() - created).toBeGreaterThanOrEqual(9 * 60_000)
  })

  it('is never older than its key', async () => {
    const signer = await signerOf(rsa)
    const { packets } = await readSignature({ binarySignature: await signer.sign(text) })
    expect(packets[0]?.created?.getTime()).toBeGreaterThanOrEqual(rsa.getCreationTime().getTime())
  })

  it('is created once for all callers, and again for another text', async () => {
    const signer = await signerOf(rsa)
    const signatures = await Promise.all(Array.from({ length: 20 }, async () => signer.sign(text)))
    expect(new Set(signatures).size).toBe(1)
    expect(await signer.sign('__proto__')).not.toEqual(signatures[0])
    const counted = await metrics.getSingleMetricAsString('depot_signing_requests_total')
    expect(counted).toContain('{result="signed"} 2')
    expect(counted).toContain('{result="cached"} 19')
  })

  it('is refused if too many callers wait', async () => {
    const signer = await signerOf(rsa)
    const asked = Array.from({ length: 1010 }, async (_, index) => signer.sign(`text ${index}`))
    const results = await Promise.allSettled(asked)
    const refused = results.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(10)
    expect(refused[0]).toMatchObject({ reason: { reason: 'Unavailable' } })
    expect(await signer.sign('text 1009')).toBeInstanceOf(Uint8Array)
  })

  it('is refused once the key has expired, and the log says why', async () => {
    const { privateKey } = await curveKey({ keyExpirationTime: 7200 })
    let nowMs = Date.now()
    const signer = await signerOf(privateKey, { clock: () => nowMs })
    nowMs += 2 * hourMs
    await expect(signer.sign(text)).rejects.toMatchObject({ reason: 'Unavailable' })
    expect(lines.join()).toContain('Primary key is expired')
  })
})

describe('a key', () => {
  it.each([
    { what: 'base64 of the armored file', write: (armored: string) => btoa(armored) },
    {
      what: 'base64 with line breaks',
      write: (armored: string) => btoa(armored).replace(/.{76}/g, '$&\n'),
    },
    { what: 'Windows line ends', write: (armored: string) => armored.replaceAll('\n', '\r\n') },
    { what: 'text around it', write: (armored: string) => `A note.\n\n${armored}\n\n` },
  ])('is read from $what', async ({ write }) => {
    const signer = await signerOf(write(rsa.armor()))
    expect(await verified(await signer.sign(text), signer.publicKeys())).toBe(true)
  })

  it('is unlocked with its passphrase, and needs none if it has none', async () => {
    const locked = await encryptKey({ privateKey: rsa, passphrase })
    const signer = await signerOf(locked, { passphrase })
    expect(await verified(await signer.sign(text), signer.publicKeys())).toBe(true)
    expect(signer.publicKeys()[0]?.ascii_armor).toBe(rsa.toPublic().armor())
  })

  it('ignores a passphrase that it does not need', async () => {
    const signer = await signerOf(rsa, { passphrase })
    expect(await verified(await signer.sign(text), signer.publicKeys())).toBe(true)
  })

  it('reports when it expires', async () => {
    const { privateKey } = await curveKey({ keyExpirationTime: 86_400 })
    const signer = await signerOf(privateKey)
    const name = 'depot_signing_key_expiry_timestamp_seconds'
    const expiry = privateKey.getCreationTime().getTime() / 1000 + 86_400
    const [publicKey] = signer.publicKeys()
    const line = `${name}{key_id="${publicKey?.key_id}"} ${expiry}`
    expect(await metrics.getSingleMetricAsString(name)).toContain(line)
  })

  it.each<{ what: string; make: () => Promise<string>; says: string; secret?: string }>([
    {
      what: 'nothing',
      make: async () => '',
      says: 'the file does not contain an armored OpenPGP key',
    },
    {
      what: 'some text',
      make: async () => 'hello',
      says: 'the file does not contain an armored OpenPGP key',
    },
    {
      what: 'a key of another kind',
      make: async () => '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----',
      says: 'the file does not contain a readable OpenPGP key',
    },
    {
      what: 'half of a key',
      make: async () => rsa.armor().slice(0, 900),
      says: 'the file does not contain a readable OpenPGP key',
    },
    {
      what: 'a public key',
      make: async () => rsa.toPublic().armor(),
      says: 'the file contains only a public key; export it with: gpg --armor --export-secret-keys',
    },
    {
      what: 'two keys',
      make: async () => rsa.armor() + (await curveKey()).privateKey.armor(),
      says: 'the file contains more than one key',
    },
    {
      what: 'a locked key without a passphrase',
      make: async () => (await encryptKey({ privateKey: rsa, passphrase })).armor(),
      says: 'the key has a passphrase; set DEPOT_GPG_PASSPHRASE',
    },
    {
      what: 'a locked key with another passphrase',
      make: async () => (await encryptKey({ privateKey: rsa, passphrase })).armor(),
      secret: 'wrong',
      says: 'the passphrase in DEPOT_GPG_PASSPHRASE is wrong',
    },
    {
      what: 'an expired key',
      make: async () => (await curveKey({ keyExpirationTime: 60 })).privateKey.armor(),
      says: 'the key expired on 20',
    },
    {
      what: 'a revoked key',
      async make() {
        const { privateKey, revocationCertificate } = await curveKey()
        const revoked = await revokeKey({
          key: privateKey,
          revocationCertificate,
          format: 'object',
        })
        return revoked.privateKey.armor()
      },
      says: 'the key is revoked',
    },
    {
      what: 'a key of the future',
      make: async () =>
        (await curveKey({ date: new Date(Date.now() + 24 * hourMs) })).privateKey.armor(),
      says: 'the key cannot sign',
    },
    {
      what: 'a key of a newer OpenPGP',
      make: async () =>
        (await curveKey({ type: 'curve25519', config: { v6Keys: true } })).privateKey.armor(),
      says: 'Terraform does not understand this version of OpenPGP keys',
    },
    {
      what: 'a huge file',
      make: async () => 'x'.repeat(2_000_000),
      says: 'the file is too large for a key',
    },
  ])('is refused with advice if it is $what', async ({ make, says, secret }) => {
    await writeFile(path, await make())
    const loading = load(secret === undefined ? {} : { passphrase: secret })
    await expect(loading).rejects.toMatchObject({
      name: 'RegistryError',
      reason: 'NotConfigured',
      message: expect.stringContaining(`--gpg-private-key-path ${path}: ${says}`),
    })
  })

  it('is refused if its file is missing or a folder', async () => {
    await expect(load()).rejects.toThrow('the file does not exist')
    mkdirSync(path)
    await expect(load()).rejects.toThrow('this is not a file')
  })
})

describe('a replaced key', () => {
  const until = (check: () => void) => vi.waitFor(check, { interval: 10 })

  it('signs from then on, even if it is mounted from a Secret through links', async () => {
    const other = (await curveKey()).privateKey
    for (const [name, key] of Object.entries({ '..1': rsa, '..2': other })) {
      mkdirSync(join(dir, name))
      await writeFile(join(dir, name, 'private.asc'), key.armor())
    }
    await symlink('..1', join(dir, '..data'))
    await symlink('..data/private.asc', path)
    const signer = await load()
    const before = await signer.sign(text)
    expect(signer.revision).toBe(0)

    await symlink('..2', join(dir, '..tmp'))
    await rename(join(dir, '..tmp'), join(dir, '..data'))
    await until(() => expect(signer.revision).toBe(1))
    expect(signer.publicKeys()[0]?.key_id).toBe(other.getKeyID().toHex().toUpperCase())
    const after = await signer.sign(text)
    expect(after).not.toEqual(before)
    expect(await verified(after, signer.publicKeys())).toBe(true)
  })

  it.each([
    { what: 'a broken one', change: () => replaceFile('broken') },
    { what: 'nothing', change: () => unlink(path) },
  ])(
    'is kept if the new one is $what, with one log line, until there is a good one',
    async ({ change }) => {
      const signer = await signerOf(rsa)
      const [publicKey] = signer.publicKeys()
      await change()
      await until(() => expect(lines).toHaveLength(1))
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(lines.join()).toMatch(/"level":"error".*"component":"signing".*the old one stays/)
      expect(lines).toHaveLength(1)
      expect(signer.publicKeys()).toEqual([publicKey])
      expect(await verified(await signer.sign(text), signer.publicKeys())).toBe(true)

      await replaceFile((await curveKey()).privateKey.armor())
      await until(() => expect(signer.revision).toBe(1))
    },
  )

  it('is kept if the new one is the same', async () => {
    const signer = await signerOf(rsa)
    await replaceFile(rsa.armor())
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(signer.revision).toBe(0)
    expect(lines).toEqual([])
  })

  it.each([
    { what: 'a good one', make: async () => (await curveKey()).privateKey.armor() },
    { what: 'a broken one', make: async () => 'broken' },
  ])('logs nothing if the new one is $what and the signer is closed', async ({ make }) => {
    let closed: Signer | undefined
    const clock = () => {
      closed?.close()
      return Date.now()
    }
    closed = await signerOf(rsa, { clock })
    const other = await load({ metrics: createMetrics({ version: 'test' }) })
    await replaceFile(await make())
    await until(() => expect(lines).not.toEqual([]))
    const { privateKey: last } = await curveKey()
    await replaceFile(last.armor())
    const lastId = last.getKeyID().toHex().toUpperCase()
    await until(() => expect(lines.at(-1)).toContain(lastId))
    expect(lines).toHaveLength(2)
    expect(other.publicKeys()).toMatchObject([{ key_id: lastId }])
    expect(closed.revision).toBe(0)
  })
})

describe.runIf(GnuPG.wanted)('with gpg', () => {
  let gpg: GnuPG
  beforeEach(() => {
    gpg = new GnuPG()
  })
  afterEach(() => gpg.close())

  it.each([
    { what: 'RSA', make: async () => rsa },
    { what: 'a curve', make: async () => (await curveKey()).privateKey },
  ])('gpg accepts a signature of $what', async ({ make }) => {
    const signer = await signerOf(await make())
    const [publicKey] = signer.publicKeys()
    gpg.run(['--import'], publicKey?.ascii_armor)
    expect(gpg.verify(text, await signer.sign(text))).toContain('[GNUPG:] GOODSIG')
    const other = await signer.sign(`${text}.`)
    expect(() => gpg.verify(text, other)).toThrow('BAD signature')
  })

  it('a key of gpg with a passphrase signs', async () => {
    const secret = ['--pinentry-mode', 'loopback', '--passphrase', passphrase]
    gpg.run([...secret, '--quick-gen-key', owner.email, 'rsa3072', 'sign', 'never'])
    const armored = gpg.run([...secret, '--armor', '--export-secret-keys'])
    const signer = await signerOf(armored, { passphrase })
    expect(gpg.verify(text, await signer.sign(text))).toContain('[GNUPG:] GOODSIG')
  })

  it('a subkey signs if the primary key is kept elsewhere', async () => {
    const secret = ['--pinentry-mode', 'loopback', '--passphrase', passphrase]
    gpg.run([...secret, '--quick-gen-key', owner.email, 'ed25519', 'cert', 'never'])
    const fingerprint = /^fpr:+(\w+):/m.exec(gpg.run(['--with-colons', '--list-keys']))?.[1] ?? ''
    const withoutSubkey = gpg.run([...secret, '--armor', '--export-secret-keys'])
    await expect(signerOf(withoutSubkey, { passphrase })).rejects.toThrow('the key cannot sign')
    gpg.run([...secret, '--quick-add-key', fingerprint, 'ed25519', 'sign', 'never'])
    const armored = gpg.run([...secret, '--armor', '--export-secret-subkeys'])
    const signer = await signerOf(armored, { passphrase })
    expect(gpg.verify(text, await signer.sign(text))).toContain('[GNUPG:] GOODSIG')
    expect(signer.publicKeys()[0]?.key_id).toBe(fingerprint.slice(-16))
  })
})
