/*
 * Data that the explorer's server puts into its page: types and parsing for both sides, without DOM and Node.
 */

/** Configuration and user of the page, as JSON in `<script type="application/json" id="boot">`. Contains no token. */
export interface Boot {
  /** `host[:port]` that source addresses of modules and providers begin with. */
  readonly registryHost: string
  /** Origin of the page, without a trailing slash. */
  readonly baseUrl: string
  /** Whether there is a login. */
  readonly oidc: boolean
  /** Whether the sidebar has a field for a bearer token. */
  readonly devTokenInput: boolean
  /** Whether the session has such a token, which takes precedence over the token of the login. */
  readonly devTokenInUse: boolean
  readonly signedIn: boolean
  readonly name?: string | undefined
  readonly email?: string | undefined
  /** End of the token, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  /** Latest end of the session, however often its token is refreshed. */
  readonly endsAt?: number | undefined
  /** When `POST /auth/refresh` should get a new token, counted from now; absent if it cannot. */
  readonly refreshInMs?: number | undefined
  /** Milliseconds since 1970. A 401 within 60 s of it must not lead to another login. */
  readonly signedInAt?: number | undefined
  /** Issuer of the token, shown if the registry refuses the token. */
  readonly issuer?: string | undefined
  readonly audience?: readonly string[] | undefined
  /** Version of the explorer. */
  readonly version: string
}

/**
 * The page's first API answer, as JSON in `<script type="application/json" id="prime" data-key=… data-status=…>`. It is
 * absent if the server did not answer in time. Then the page sends the request.
 */
export interface Prime {
  /** The URL that the page would otherwise fetch, such as `/-/api/resources?page_size=20`. */
  readonly key: string
  /** HTTP status: 200, or 400, 401, 403 or 404 with `{"errors": […]}` as body. */
  readonly status: number
  readonly body: unknown
}

/** Values of the cookie `depot-theme`; without the cookie the theme is System. */
export type Theme = 'light' | 'dark'
export const themeCookie = 'depot-theme'

export function parseTheme(text: string | undefined): Theme | undefined {
  return text === 'light' || text === 'dark' ? text : undefined
}

/** @throws SyntaxError if the text is not JSON */
export function parseBoot(text: string): Boot {
  const found = JSON.parse(text) as Partial<Boot>
  return {
    ...found,
    registryHost: found.registryHost ?? '',
    baseUrl: found.baseUrl ?? '',
    oidc: found.oidc === true,
    devTokenInput: found.devTokenInput === true,
    devTokenInUse: found.devTokenInUse === true,
    signedIn: found.signedIn === true,
    version: found.version ?? '',
  }
}

/** JSON for a script element. It contains no `<`, so that it cannot end the element or open a comment. */
export function dataBlock(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
