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

/** In addition to `nosniff`, which every answer of this process has. */
const everywhere = {
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'X-Robots-Tag': 'noindex, nofollow',
  'Content-Security-Policy': policy,
} as const

/** Headers of the explorer's own answers. They forbid foreign scripts, frames and pictures. */
export function ownHeaders({ isHttps }: { readonly isHttps: boolean }): Record<string, string> {
  return {
    ...everywhere,
    ...(isHttps && { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
}

/** Policy of the server's answers through the explorer, because a tenant's file must not run as a page of this origin. */
export const inertPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

/** The encodings that a browser accepts. @param header `Accept-Encoding`; weights are ignored */
export function encodingsIn(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').map((it) => it.trim())
}
