/*
 * What the explorer's server tells its page: types and parsing, for both sides. No DOM and no Node here.
 */

/** The page's configuration and who looks at it, as JSON in `<script type="application/json" id="boot">`. No token. */
export interface Boot {
  /** `host[:port]` that source addresses of modules and providers begin with. */
  readonly registryHost: string
  /** Origin that the page is reached by, without a slash at the end. */
  readonly baseUrl: string
  /** Whether there is a login. */
  readonly oidc: boolean
  /** Whether the sidebar has a field for a bearer token. */
  readonly devTokenInput: boolean
  /** Whether such a token is in the session; it wins over the one of the login. */
  readonly devTokenInUse: boolean
  readonly signedIn: boolean
  readonly name?: string | undefined
  readonly email?: string | undefined
  /** Milliseconds since 1970: when the login ends, unless it is refreshed before. */
  readonly expiresAt?: number | undefined
  /** Whether `POST /auth/refresh` can make the login longer. */
  readonly refreshable: boolean
  /** Milliseconds since 1970. A 401 within 60 s of it must not lead to another login. */
  readonly signedInAt?: number | undefined
  /** Of the token, to say what the registry did not accept. */
  readonly issuer?: string | undefined
  readonly audience?: readonly string[] | undefined
  /** Of the explorer. */
  readonly version: string
}

/**
 * The page's first API answer, as JSON in `<script type="application/json" id="prime" data-key=… data-status=…>`. It is
 * absent where the server did not answer in time; the page then asks by itself.
 */
export interface Prime {
  /** The URL that the page would have fetched, such as `/-/api/resources?page_size=20`. */
  readonly key: string
  /** Of the answer: 200, or 400, 401, 403 or 404 with `{"errors": […]}` as body. */
  readonly status: number
  readonly body: unknown
}

/** Values of the cookie `depot-theme`; System is the absence of it. */
export type Theme = 'light' | 'dark'
export const themeCookie = 'depot-theme'

export function parseTheme(text: string | undefined): Theme | undefined {
  return text === 'light' || text === 'dark' ? text : undefined
}

/** @throws SyntaxError where the text is no JSON */
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
    refreshable: found.refreshable === true,
    version: found.version ?? '',
  }
}

/** JSON that may stand in a script element: no `<` in it can end the element or open a comment. */
export function dataBlock(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
