import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'

/** A certificate that signed itself, in memory as PEM and in files. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly certPath: string
  readonly keyPath: string
  /** With which `depot server` uses it. */
  readonly flags: readonly string[]
}

/** Makes a certificate for names and puts it into a folder. */
export async function writeCertificate(dir: string, ...names: string[]): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: names[0] ?? '' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) }],
  })
  const [certPath, keyPath] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeFileSync(certPath, cert)
  writeFileSync(keyPath, key)
  const flags = ['--tls-cert-path', certPath, '--tls-cert-key', keyPath]
  return { cert, key, certPath, keyPath, flags }
}
