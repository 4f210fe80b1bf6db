import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { rootCertificates } from 'node:tls'
import { readTlsFiles } from '../../pkg/base/serving/serving.ts'
import { type Examination, failed, ok, warning } from './check.ts'

const dayMs = 86_400_000
const soonDays = 14

/** Checks the certificate that a server serves, as its clients do. */
export function certificateChecks(options: {
  readonly tlsCertPath?: string | undefined
  readonly tlsCertKey?: string | undefined
  readonly baseUrl?: string | undefined
}): Examination[] {
  const { tlsCertPath: certPath, tlsCertKey: keyPath, baseUrl } = options
  if (certPath === undefined || keyPath === undefined) return []
  const replace = `replace ${certPath} and ${keyPath} (the Secret that is mounted there)`
  return [
    {
      what: 'certificate',
      remedy: replace,
      run() {
        const chain = certificatesIn(String(readTlsFiles({ certPath, keyPath }).cert))
        const [leaf] = chain
        const last = chain.at(-1)
        if (leaf === undefined || last === undefined) return failed('there is none', replace)
        const names = leaf.subjectAltName?.replaceAll('DNS:', '') ?? 'no name'
        const days = Math.floor((Date.parse(leaf.validTo) - Date.now()) / dayMs)
        if (days < 0) return failed(`it expired on ${leaf.validTo}`, replace)
        if (Date.parse(leaf.validFrom) > Date.now()) {
          return failed(`it is not valid before ${leaf.validFrom}`, 'correct the clock, or wait')
        }
        const host = baseUrl && new URL(baseUrl).hostname
        if (host && !isFor(leaf, host)) {
          return failed(
            `it is for ${names}, and clients ask for ${host} (--base-url)`,
            `get a certificate for ${host}, or correct --base-url (server.baseUrl of the chart)`,
          )
        }
        if (days < soonDays) {
          return warning(`it expires in ${days} days`, `${replace}; the server reloads it`)
        }
        const told = `it is for ${names}, until ${leaf.validTo}`
        if (!host) {
          return warning(
            `${told}, but --base-url does not say which name clients use`,
            'set --base-url (server.baseUrl of the chart)',
          )
        }
        if (!isPublic(last)) {
          return warning(
            `${told}, from ${last.issuer.replaceAll('\n', ', ')}, which is not a public authority`,
            'add that authority to the trusted ones of each machine that runs Terraform',
          )
        }
        return ok(told)
      },
    },
  ]
}

const pem = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs
const certificatesIn = (text: string): X509Certificate[] =>
  (text.match(pem) ?? []).map((one) => new X509Certificate(one))

const isFor = (leaf: X509Certificate, host: string): boolean => {
  const address = host.replace(/^\[|\]$/g, '')
  return (isIP(address) === 0 ? leaf.checkHost(host) : leaf.checkIP(address)) !== undefined
}

/** Whether an authority that Node trusts has issued the certificate, or is the certificate. */
const isPublic = (last: X509Certificate): boolean =>
  rootCertificates.some((root) => new X509Certificate(root).subject === last.issuer)
