import * as z from 'zod'
import { type FollowedFile, followFile } from '../../pkg/base/run/run.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { type FieldPath, parseYaml } from '../../pkg/records/folder/folder.ts'
import { machinePrefix, type PublishIssuer } from '../../pkg/registry/auth/auth.ts'

const maxIssuers = 20
const maxClaims = 50

const Entry = z.strictObject({
  alias: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, {
      error: 'must be lower-case letters, digits and dashes, at most 32: write a name such as gha',
    })
    .refine((alias) => `${alias}:` !== machinePrefix, {
      error: 'is reserved for the groups of programs: write another name',
    }),
  issuer: z.string().refine(isEncryptedOrHere, {
    error:
      'must be the URL that tokens have in iss, without query and credentials: write https://, because anybody in the network could change the keys otherwise',
  }),
  audience: z.string().min(1, 'is empty: write the URL of this registry'),
  claims: z
    .array(
      z.string().regex(/^[^:\s]{1,200}$/, {
        error: 'must be the name of a claim, without colons and blanks',
      }),
    )
    .min(1, 'is empty: name the claims that become groups, such as repository_id')
    .max(maxClaims),
})
/** An empty list trusts no issuer. */
const Entries = z.array(Entry).max(maxIssuers)

/**
 * Reads the issuers of a file.
 *
 * @param file for messages
 * @param mainIssuer the issuer of people
 * @throws Error with file and line
 */
export function publishIssuersIn(
  text: string,
  file: string,
  mainIssuer: string | undefined,
): readonly PublishIssuer[] {
  const document = parseYaml(text)
  const problem = (line: number | undefined, message: string) =>
    new Error(`${file}:${(line ?? 0) + 1}: ${message}`)
  if (!document.ok) throw problem(document.line, document.message)
  const at = (path: FieldPath, message: string) =>
    problem(document.lineOf(path), [path.join('.'), message].filter(Boolean).join(' '))
  if (!Array.isArray(document.value)) {
    throw problem(0, 'is not a list: write entries with alias, issuer, audience and claims')
  }
  const parsed = Entries.safeParse(document.value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw at((issue?.path ?? []) as FieldPath, issue?.message ?? 'is not valid')
  }
  for (const [index, { alias, issuer }] of parsed.data.entries()) {
    const before = parsed.data.slice(0, index)
    if (before.some((other) => other.alias === alias)) {
      throw at([index, 'alias'], `${alias} is the alias of two issuers: give each its own`)
    }
    if (before.some((other) => other.issuer === issuer)) {
      throw at([index, 'issuer'], `${issuer} has two entries: keep one, with all of its claims`)
    }
    if (issuer === mainIssuer) {
      throw at(
        [index, 'issuer'],
        `${issuer} is the issuer of people, in --oidc-issuer-url: remove this entry, and either have people log in through a broker such as Dex, or give its programs a group with --oidc-allow-client-credentials`,
      )
    }
  }
  return parsed.data
}

/**
 * Reads the file of `--publish-issuers`, and follows its changes.
 *
 * @throws OptionsError if the file cannot be read at the start
 */
export function openPublishIssuers({
  path,
  mainIssuer,
  ...looking
}: {
  readonly path: string
  readonly mainIssuer: string | undefined
  readonly log: Logger
  readonly metrics: Metrics
  /** How often to look for a change. */
  readonly lookMs?: number
}): Promise<FollowedFile<readonly PublishIssuer[]>> {
  const parse = (text: string) => publishIssuersIn(text, path, mainIssuer)
  const gauge = 'publish_issuers_file_valid'
  return followFile({ flag: 'publish-issuers', gauge, path, parse, ...looking })
}

function isEncryptedOrHere(text: string): boolean {
  if (!/^https?:\/\/[^\s#?@]+$/.test(text)) return false
  const url = URL.parse(text)
  return (
    url?.protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url?.hostname ?? '')
  )
}
