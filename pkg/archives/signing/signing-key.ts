import {
  createMessage,
  decryptKey,
  type PrivateKey,
  readKey,
  readKeys,
  readSignature,
  sign,
  verify,
} from 'openpgp'
import { messageOf, RegistryError } from '../../base/errors/errors.ts'

/** Terraform refuses signatures from the future, and clocks of clients may be slow. So signatures are backdated by this. */
const lateClientsMs = 10 * 60_000

const exportHint = 'export it with: gpg --armor --export-secret-keys KEYID'

/** A public key as the provider protocol shows it. */
export interface PublicKey {
  /** Id of the primary key, 16 upper-case hexadecimal digits. */
  readonly key_id: string
  /** The whole public key: the primary key and its subkeys, one of which may sign. */
  readonly ascii_armor: string
}

/** A private key that was unlocked and can sign. */
export interface SigningKey {
  readonly publicKey: PublicKey
  /** When clients begin to refuse its signatures, in milliseconds since 1970; absent if never. */
  readonly expiresAtMs?: number
  /** A binary detached signature of the text, with SHA-256 or better. */
  sign(text: string, nowMs: number): Promise<Uint8Array>
}

/**
 * Reads a private key, unlocks it and tries it.
 *
 * @param text an OpenPGP private key, armored, or base64 of that
 * @throws RegistryError NotConfigured: what is wrong and how to fix it
 */
export async function readSigningKey(
  text: string,
  passphrase: string | undefined,
  nowMs: number,
): Promise<SigningKey> {
  const key = await unlock(await parse(armoredOf(text)), passphrase)
  const expiresAtMs = await checkUsable(key, nowMs)
  const publicKey = {
    key_id: key.getKeyID().toHex().toUpperCase(),
    ascii_armor: key.toPublic().armor(),
  }
  const signText = (what: string, atMs: number) => signWith(key, what, atMs)
  await tryOut(signText, publicKey, nowMs)
  return { publicKey, ...(expiresAtMs !== undefined && { expiresAtMs }), sign: signText }
}

function armoredOf(text: string): string {
  if (text.includes('-----BEGIN')) return text
  const decoded = Buffer.from(text, 'base64').toString()
  if (decoded.includes('-----BEGIN')) return decoded
  throw bad(`the file does not contain an armored OpenPGP key; ${exportHint}`)
}

async function parse(armored: string): Promise<PrivateKey> {
  const blocks = armored.split(/^-----BEGIN PGP (?:PUBLIC|PRIVATE) KEY BLOCK-----/m).length - 1
  const keys = await readKeys({ armoredKeys: armored }).catch((error: unknown) => {
    throw bad(`the file does not contain a readable OpenPGP key; ${exportHint}`, error)
  })
  const [key] = keys
  if (keys.length > 1 || blocks > 1) {
    throw bad(`the file contains more than one key, and only one can sign; ${exportHint}`)
  }
  if (!key?.isPrivate()) throw bad(`the file contains only a public key; ${exportHint}`)
  if (key.keyPacket.version !== 4) {
    throw bad('Terraform does not understand this version of OpenPGP keys; create an RSA key')
  }
  return key
}

async function unlock(key: PrivateKey, passphrase: string | undefined): Promise<PrivateKey> {
  if (key.isDecrypted()) return key
  if (!passphrase) throw bad('the key has a passphrase; set DEPOT_GPG_PASSPHRASE')
  try {
    return await decryptKey({ privateKey: key, passphrase })
  } catch (error) {
    throw bad('the passphrase in DEPOT_GPG_PASSPHRASE is wrong', error)
  }
}

/** @returns when the key expires, in milliseconds since 1970 */
async function checkUsable(key: PrivateKey, nowMs: number): Promise<number | undefined> {
  const now = new Date(nowMs)
  if (await key.isRevoked(undefined, undefined, now)) {
    throw bad('the key is revoked; create another one')
  }
  const keyEnd = endOf(await key.getExpirationTime())
  if (keyEnd <= nowMs) throw expired(keyEnd)
  const signing = await key.getSigningKey(undefined, now).catch((error: unknown) => {
    throw bad(`the key cannot sign: ${messageOf(error)}`, error)
  })
  const end = Math.min(keyEnd, endOf(await signing.getExpirationTime()))
  return Number.isFinite(end) ? end : undefined
}

const endOf = (time: Date | number | null): number => (time === null ? Infinity : Number(time))

function expired(endMs: number): RegistryError {
  const day = new Date(endMs).toISOString().slice(0, 10)
  return bad(`the key expired on ${day}; extend it with gpg --quick-set-expire and export it again`)
}

async function signWith(key: PrivateKey, text: string, nowMs: number): Promise<Uint8Array> {
  const early = new Date(nowMs - lateClientsMs)
  const existed = await key.getSigningKey(undefined, early).then(
    () => true,
    () => false,
  )
  return sign({
    message: await createMessage({ binary: Buffer.from(text) }),
    signingKeys: key,
    detached: true,
    format: 'binary',
    date: existed ? early : new Date(nowMs),
  })
}

/** Tries a key, because a key that was exported without its private part looks usable and cannot sign. */
async function tryOut(
  signText: SigningKey['sign'],
  { ascii_armor }: PublicKey,
  nowMs: number,
): Promise<void> {
  try {
    const signature = await signText('a trial', nowMs)
    const { signatures } = await verify({
      message: await createMessage({ binary: Buffer.from('a trial') }),
      signature: await readSignature({ binarySignature: signature }),
      verificationKeys: await readKey({ armoredKey: ascii_armor }),
      date: new Date(nowMs),
    })
    await signatures[0]?.verified
  } catch (error) {
    throw bad(`the key cannot sign: ${messageOf(error)}`, error)
  }
}

function bad(message: string, cause?: unknown): RegistryError {
  return new RegistryError('NotConfigured', message, { cause })
}
