const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Beside `nosniff`, which every answer of this process has. */
const everywhere = {
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'X-Robots-Tag': 'noindex, nofollow',
  'Content-Security-Policy': policy,
} as const

/** Of everything that the explorer itself answers: no script but its own, no frame around it, no pictures of others. */
export function ownHeaders({ isHttps }: { readonly isHttps: boolean }): Record<string, string> {
  return {
    ...everywhere,
    ...(isHttps && { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
}

/** Of what the server answers by way of the explorer: a file of a tenant must not become a page of this origin. */
export const inertHeaders = {
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
} as const

/** The encodings that a browser takes. @param header `Accept-Encoding`; weights are not looked at */
export function encodingsIn(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').map((it) => it.trim())
}
