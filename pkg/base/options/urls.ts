import * as z from 'zod'

function parseHttpUrl(text: string): URL | undefined {
  if (!/^https?:\/\/[^\s#]+$/i.test(text)) return undefined
  const url = URL.parse(text)
  return url === null || url.username !== '' || url.password !== '' ? undefined : url
}

const httpUrl = z.string().refine((text) => parseHttpUrl(text) !== undefined, {
  error:
    'is not a URL: write an absolute one that starts with https:// or http://, without credentials and fragment',
  abort: true,
})

const withoutQuery = httpUrl.refine((text) => !text.includes('?'), {
  error: 'has a query: write the URL without ? and what follows',
  abort: true,
})

/** Is used as written. */
export const endpointUrl = httpUrl.meta({ title: 'URL' })

/** Is used as written, and leaves the cluster. */
export const webhookUrl = httpUrl
  .refine((text) => parseHttpUrl(text)?.protocol === 'https:', {
    error: 'must begin with https://',
  })
  .meta({ title: 'URL' })

/** Paths are appended to it, so a slash at the end is dropped. */
export const baseUrl = withoutQuery
  .transform((text) => new URL(text).href.replace(/\/+$/, ''))
  .meta({ title: 'URL' })

const encrypted = withoutQuery.refine((text) => isEncryptedOrNear(parseHttpUrl(text)), {
  error:
    'would be asked without encryption: write https://, or name this machine or a service of the cluster (localhost, 127.0.0.1, [::1], name, name.namespace.svc)',
})

/** Is kept letter by letter, because tokens contain it. */
export const issuerUrl = encrypted.meta({ title: 'URL' })

/** Receives passwords and tokens. Paths are appended to it. */
export const brokerUrl = encrypted
  .transform((text) => new URL(text).href.replace(/\/+$/, ''))
  .meta({ title: 'URL' })

function isEncryptedOrNear(url: URL | undefined): boolean {
  if (url === undefined || url.protocol === 'https:') return url !== undefined
  const host = url.hostname
  if (host === '127.0.0.1' || host === '[::1]') return true
  return /^[a-z0-9-]+$/.test(host) || /^[a-z0-9-]+\.[a-z0-9-]+\.svc(\.[a-z0-9.-]+)?$/.test(host)
}
