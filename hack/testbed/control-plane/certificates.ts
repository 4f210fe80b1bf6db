import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A certificate and its key, as files and as PEM. */
export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  readonly cert: string
  readonly key: string
}

export interface Authority extends Certificate {
  /** A server's certificate for 127.0.0.1, localhost and further names. */
  server(name: string, names?: readonly string[]): Certificate
  /** A client's certificate, with its name and its groups. */
  client(name: string, groups?: readonly string[]): Certificate
}

const days = '30'
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes a certificate authority in a folder, with the openssl on PATH. */
export function createAuthority(directory: string, commonName = 'depot test'): Authority {
  mkdirSync(directory, { recursive: true })
  const path = (file: string) => join(directory, file)
  const certificate = (file: string): Certificate => ({
    certFile: path(`${file}.crt`),
    keyFile: path(`${file}.key`),
    cert: readFileSync(path(`${file}.crt`), 'utf8'),
    key: readFileSync(path(`${file}.key`), 'utf8'),
  })
  const subject = ['-subj', `/CN=${commonName}`]
  const caFiles = ['-keyout', path('ca.key'), '-out', path('ca.crt')]
  openssl('req', '-x509', ...newKey, '-days', days, ...subject, ...caFiles)

  function sign(file: string, subjectName: string, extensions: string): Certificate {
    const request = path(`${file}.csr`)
    const keyOut = ['-keyout', path(`${file}.key`), '-out', request]
    openssl('req', '-new', ...newKey, '-subj', subjectName, ...keyOut)
    writeFileSync(path(`${file}.ext`), extensions)
    const signer = ['-CA', path('ca.crt'), '-CAkey', path('ca.key'), '-CAcreateserial']
    const out = ['-extfile', path(`${file}.ext`), '-out', path(`${file}.crt`)]
    openssl('x509', '-req', '-in', request, '-days', days, ...signer, ...out)
    return certificate(file)
  }

  return {
    ...certificate('ca'),
    server: (name, names = []) => {
      const all = ['IP:127.0.0.1', ...['localhost', ...names].map((one) => `DNS:${one}`)]
      const extensions = `subjectAltName=${all.join(',')}\nextendedKeyUsage=serverAuth\n`
      return sign(name, `/CN=${name}`, extensions)
    },
    client: (name, groups = []) =>
      sign(
        `client-${name.replaceAll(':', '-')}`,
        `${groups.map((group) => `/O=${group}`).join('')}/CN=${name}`,
        'extendedKeyUsage=clientAuth\n',
      ),
  }
}

/** An RSA key for signing service account tokens. */
export function createSigningKey(file: string): void {
  openssl('genrsa', '-out', file, '2048')
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
