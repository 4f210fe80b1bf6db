import { createMessage, type Key, readKeys, readSignature, type Signature, verify } from 'openpgp'
import { messageOf, printable } from '../../base/errors/errors.ts'
import { FillError } from './errors.ts'
import type { ReleaseSigner } from './types.ts'

/**
 * Reads SHA256SUMS: digests in hexadecimal by file name. Blanks around a line, and a byte order mark, are ignored.
 *
 * @throws FillError ChecksumMismatch if a file has two digests
 */
export function readShasums(document: Buffer | string): Map<string, string> {
  const sums = new Map<string, string>()
  for (const line of String(document).split('\n')) {
    const [, text = '', name = ''] = /^([0-9a-fA-F]{64})\s+\*?(\S+)$/.exec(line.trim()) ?? []
    if (name === '') continue
    const digest = text.toLowerCase()
    if ((sums.get(name) ?? digest) !== digest) {
      throw new FillError('ChecksumMismatch', `SHA256SUMS has two digests of ${name}`)
    }
    sums.set(name, digest)
  }
  return sums
}

/** `zh:` of the archives of one version, by `os_arch`. */
export function archiveHashes(
  sums: ReadonlyMap<string, string>,
  type: string,
  version: string,
): Map<string, string> {
  const hashes = new Map<string, string>()
  const prefix = `terraform-provider-${type}_${version}_`
  for (const [name, digest] of sums) {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    const [, platform] = /^([a-z0-9]+_[a-z0-9]+)\.zip$/.exec(rest) ?? []
    if (platform !== undefined) hashes.set(platform, `zh:${digest}`)
  }
  return hashes
}

/** A key, and the text that it was read from. */
interface OfferedKey {
  readonly key: Key
  readonly armored: string
}

interface SignatureInput {
  readonly shasums: Buffer
  /** Binary or armored. */
  readonly signature: Buffer
  /** Armored. Keys that cannot be read are skipped. */
  readonly offered: readonly string[]
  readonly trustedKeys: readonly string[]
  readonly nowMs: number
}

interface VerifiedSignature {
  /** Binary, as the CLIs expect it. */
  readonly signature: Buffer
  /** The signer's public key, armored. */
  readonly key: string
  readonly signer: ReleaseSigner
}

/** @throws FillError SignatureInvalid, InvalidSpec, or SigningKeyChanged if `trustedKeys` does not hold the signer */
export async function verifySignature(input: SignatureInput): Promise<VerifiedSignature> {
  const trusted = await readTrusted(input.trustedKeys)
  const offered = [...(await readOffered(input.offered)), ...trusted.keys]
  const signature = await readDocument(input.signature)
  const found = await findSigner(signature, offered, input)
  const fingerprints = found.key.getKeys().map((key) => key.getFingerprint().toUpperCase())
  const [fingerprint = ''] = fingerprints
  const signer = {
    fingerprint,
    keyId: found.key.getKeyID().toHex().toUpperCase(),
    trusted: fingerprints.some((one) => trusted.fingerprints.has(one)),
  }
  if (trusted.fingerprints.size > 0 && !signer.trusted) {
    throw new FillError(
      'SigningKeyChanged',
      `the release is signed by ${fingerprint}, which is not among trustedKeys: add it there to accept it`,
    )
  }
  return { signature: Buffer.from(signature.write()), key: found.armored, signer }
}

async function readDocument(bytes: Buffer): Promise<Signature> {
  const text = bytes.toString('latin1')
  try {
    return text.includes('-----BEGIN PGP')
      ? await readSignature({ armoredSignature: text })
      : await readSignature({ binarySignature: bytes })
  } catch (cause) {
    throw invalid('it cannot be read as an OpenPGP signature', cause)
  }
}

/** Checks every signature with every key: one good signature is enough, as for the CLIs. */
async function findSigner(
  signature: Signature,
  offered: readonly OfferedKey[],
  input: SignatureInput,
): Promise<OfferedKey> {
  const message = await createMessage({ binary: input.shasums })
  const check = async (keys: readonly OfferedKey[], atMs: number) => {
    const { signatures } = await verify({
      message,
      signature,
      verificationKeys: keys.map(({ key }) => key),
      format: 'binary',
      date: new Date(atMs),
      // A key that was extended has a newer self-signature than the releases that it signed before.
      config: { allowInsecureVerificationWithReformattedKeys: true },
    })
    return signatures
  }
  const problems: string[] = []
  for (const { keyID, verified } of await check(offered, input.nowMs)) {
    const signer = offered.find(({ key }) => key.getKeys(keyID).length > 0)
    try {
      await verified
      if (signer !== undefined) return signer
    } catch (error) {
      if (signer !== undefined && (await wasValid(signer, check, input.nowMs))) return signer
      problems.push(messageOf(error))
    }
  }
  throw invalid(problemOf(problems), problems.join('; '))
}

type Check = (
  keys: readonly OfferedKey[],
  atMs: number,
) => Promise<readonly { readonly verified: Promise<true> }[]>

/** Whether a signature was good just before its key expired. */
async function wasValid(signer: OfferedKey, check: Check, nowMs: number): Promise<boolean> {
  const end = await signer.key.getExpirationTime()
  if (!(end instanceof Date) || end.getTime() > nowMs) return false
  const results = await check([signer], end.getTime() - 1000)
  const checked = await Promise.allSettled(results.map(({ verified }) => verified))
  return checked.some(({ status }) => status === 'fulfilled')
}

const withoutDepot = 'Terraform and OpenTofu would install it without Depot'

function problemOf(problems: readonly string[]): string {
  const said = problems.join(' ')
  if (/hash algorithm: sha1/i.test(said)) {
    return `it uses SHA-1, which can be forged; ${withoutDepot}`
  }
  if (/expired/i.test(said)) {
    return `its key had expired when the signature was made; ${withoutDepot}`
  }
  if (/could not find signing key/i.test(said)) {
    return 'none of the keys that the upstream names made it'
  }
  if (/future/i.test(said)) return 'its date is in the future: check the clock'
  if (/revoked/i.test(said)) return 'its key is revoked'
  return said === '' ? 'it holds no signature' : printable(said, 100)
}

function invalid(why: string, cause?: unknown): FillError {
  return new FillError('SignatureInvalid', `the signature of SHA256SUMS is refused: ${why}`, {
    cause,
  })
}

async function readOffered(armored: readonly string[]): Promise<OfferedKey[]> {
  const keys: OfferedKey[] = []
  for (const text of armored) {
    const read = await readKeys({ armoredKeys: text }).catch((): Key[] => [])
    keys.push(...read.map((key) => ({ key, armored: text })))
  }
  return keys
}

interface Trusted {
  readonly keys: readonly OfferedKey[]
  readonly fingerprints: ReadonlySet<string>
}

async function readTrusted(entries: readonly string[]): Promise<Trusted> {
  const keys: OfferedKey[] = []
  const fingerprints = new Set<string>()
  for (const entry of entries) {
    const bare = entry.replaceAll(/[\s:]/g, '').replace(/^0x/i, '').toUpperCase()
    if (/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(bare)) {
      fingerprints.add(bare)
      continue
    }
    const read = await readOffered(entry.includes('-----BEGIN PGP') ? [entry] : [])
    if (read.length === 0) {
      throw new FillError(
        'InvalidSpec',
        `"${printable(entry, 50)}" in trustedKeys is neither a fingerprint of 40 digits nor an armored public key`,
      )
    }
    keys.push(...read)
    for (const { key } of read) fingerprints.add(key.getFingerprint().toUpperCase())
  }
  return { keys, fingerprints }
}
