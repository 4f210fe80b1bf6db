/**
 * A rule for one value. The API server checks it when an object is written; Depot checks it where no API server did. An
 * object that breaks a rule may be older than it, so Depot serves as much of the object as possible.
 */
export interface FieldRule<T> {
  /** In CEL, over `self`. */
  readonly rule: string
  /** Advice for a correct value. */
  readonly message: string
  readonly holds: (value: T) => boolean
}

/** The kinds of objects that Versions belong to. */
export type ParentKind = 'Module' | 'Provider'

/** The rules of validations and patterns in definitions. */
const rulesBehind = new Map<unknown, readonly FieldRule<never>[]>()

/** The rules of a field for its definition, with bounds from which an API server estimates their cost. */
export function ruled<T>(rules: readonly FieldRule<T>[], bounds: Readonly<Record<string, number>>) {
  const validations = rules.map(({ rule, message }) => ({ rule, message }))
  rulesBehind.set(validations, rules)
  return { ...bounds, 'x-kubernetes-validations': validations }
}

/** The rules that `ruled` or `patterned` put into the metadata of a schema. */
export function rulesOf(
  meta: Readonly<Record<string, unknown>> = {},
): readonly FieldRule<unknown>[] {
  const rules =
    rulesBehind.get(meta['x-kubernetes-validations']) ?? rulesBehind.get(meta['pattern'])
  return (rules ?? []) as readonly FieldRule<unknown>[]
}

/** A rule with one pattern for both CEL and TypeScript. */
function pattern(source: string, message: string): FieldRule<string> {
  const expression = new RegExp(source)
  const literal = source.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  return { rule: `self.matches('${literal}')`, message, holds: (value) => expression.test(value) }
}

/** API servers check this for all kinds, so definitions do not contain it. */
export const objectName = pattern(
  '^[0-9a-z]([0-9a-z.-]{0,251}[0-9a-z])?$',
  'must be a name as Kubernetes has it, of lower-case letters, digits, - and ., such as network-1.0.0',
)

export const namespaceName = pattern(
  '^[0-9a-z]([0-9a-z-]{0,61}[0-9a-z])?$',
  'must be a namespace as Kubernetes has it, of lower-case letters, digits and -, such as team-a',
)

/** The second part of a module's address, as CLIs accept it. */
export const moduleName = pattern(
  '^[0-9A-Za-z]([0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$',
  'must be a module name of letters, digits, - and _, such as network, and not start or end with - or _: CLIs refuse other names',
)

/** The third part of a module's address, as CLIs accept it. */
export const targetSystem = pattern(
  '^[0-9a-z]{0,64}$',
  'must be a target system of lower-case letters and digits, such as aws: CLIs refuse other names, so write awsgov instead of aws-gov',
)

export const providerType = pattern(
  '^[0-9a-z]([0-9a-z_-]{0,62}[0-9a-z])?$',
  'must be a provider type of lower-case letters, digits, - and _, such as hello: CLIs refuse other names',
)

export const operatingSystem: readonly FieldRule<string>[] = [
  pattern(
    '^[0-9a-z]+$',
    'must be an operating system, spelled as in Go: linux, darwin, windows, freebsd',
  ),
  noneOf(['macos', 'osx', 'mac'], 'must be darwin, as Go and CLIs name it'),
  noneOf(['win', 'win32', 'win64'], 'must be windows, as Go and CLIs name it'),
]

export const architecture: readonly FieldRule<string>[] = [
  noneOf(['x86_64', 'x64', 'x86-64'], 'must be amd64, as Go and CLIs name it'),
  noneOf(['aarch64', 'armv8'], 'must be arm64, as Go and CLIs name it'),
  noneOf(['i386', 'i686', 'x86'], 'must be 386, as Go and CLIs name it'),
  pattern(
    '^[0-9a-z]+(_[0-9a-z]+)?$',
    'must be an architecture, spelled as in Go: amd64, arm64, 386, arm',
  ),
]

/** A file name is a part of a path in storage, and of a path that clients unpack. */
export const fileName: readonly FieldRule<string>[] = [
  pattern(
    '^[^/\\\\\\x00-\\x1f\\x7f]+$',
    'must be the name of a file, not a path: folders come from the storageConfig and the name of the module or provider',
  ),
  noneOf(['.', '..'], 'must be the name of a file, such as network-1.2.0.zip'),
  {
    rule: "!self.matches('[.]([A-Za-z][0-9A-Za-z]{0,4}|7z)$') || self.matches('(?i)[.](zip|tar[.]gz|tgz)$')",
    message: 'must end in .zip, .tar.gz or .tgz: CLIs unpack nothing else',
    holds: (value) =>
      !/\.([a-z][0-9a-z]{0,4}|7z)$/i.test(value) || /\.(zip|tar\.gz|tgz)$/i.test(value),
  },
]

export const directoryPath: FieldRule<string> = {
  rule: "!self.matches('(^|/)[.][.](/|$)')",
  message: 'must stay inside the mounted directory: write a path below --archives without ..',
  holds: (value) => !/(^|\/)\.\.(\/|$)/.test(value),
}

export const protocol = pattern(
  '^[0-9]+\\.[0-9]+$',
  'must be a plugin protocol version in quotes, such as "5.0" or "6.0"',
)

export const digest = pattern(
  '^([0-9A-Fa-f]{64}|[0-9A-Za-z_+/-]{43}=?)?$',
  'must be a SHA-256 digest, as 64 hexadecimal digits (sha256sum FILE) or as base64',
)

/**
 * A rule that definitions carry as a plain `pattern`: API servers estimate that CEL costs too much for long values in long
 * lists.
 */
export interface PlainPattern extends FieldRule<string> {
  readonly pattern: string
}

/** A field with such a rule. */
export function patterned(rule: PlainPattern, maxLength: number) {
  rulesBehind.set(rule.pattern, [rule])
  return { pattern: rule.pattern, maxLength }
}

function plainPattern(source: string, message: string): PlainPattern {
  return { ...pattern(source, message), pattern: source }
}

/** URL that the controller requests. It must not contain a password, because specs are read by many. */
export const sourceUrl = plainPattern(
  '^(https://)?[^\\s/@:]+(:[0-9]{1,5})?(/[^\\s]*)?$',
  'must be an https URL without a name or password in it: credentials belong into the Secret of secretRef',
)

export const upstreamAddress = plainPattern(
  '^[0-9A-Za-z.-]+(:[0-9]{1,5})?/[^\\s@]+$',
  'must be a host and a path without https://, such as github.com/acme/terraform-aws-vpc',
)

export const age = plainPattern(
  '^[1-9][0-9]{0,4}[dhm]$',
  'must be a whole number of days, hours or minutes, such as 7d or 36h',
)

export const endDate = plainPattern(
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))?$',
  'must be a date such as 2026-12-31, or a time such as 2026-12-31T12:00:00Z',
)

export const httpsUrl = plainPattern(
  '^https://[^\\s/@:]+(:[0-9]{1,5})?(/[^\\s]*)?$',
  'must be an https URL without a name or password in it',
)

export const innerPath = plainPattern(
  '^([^./\\\\][^/\\\\]*|[.][^./\\\\][^/\\\\]*|[.])(/([^./\\\\][^/\\\\]*|[.][^./\\\\][^/\\\\]*|[.])?)*$',
  'must be a path inside the archive, such as modules/vpc, without .. and not absolute',
)

export const hostName = plainPattern(
  '^[0-9a-z]([0-9a-z.-]*[0-9a-z])?(:[0-9]{1,5})?$',
  'must be the name of a host in lower case, such as registry.opentofu.org, without https://',
)

export const trustedKey = plainPattern(
  '^\\s*((0x)?(([0-9A-Fa-f] {0,2}){40}|([0-9A-Fa-f] {0,2}){64})$|-----BEGIN PGP PUBLIC KEY BLOCK-----)',
  'must be the fingerprint of a key as gpg --fingerprint KEY prints it (40 or 64 hexadecimal digits) or an armored public key; a short key id can be forged',
)

/** The fields of a source that must agree. */
interface SourceFields {
  readonly type: 'github' | 'git' | 'archive' | 'registry'
  readonly url?: string | undefined
}

export const moduleSource: readonly FieldRule<SourceFields>[] = [
  {
    rule: "self.type == 'github' || has(self.url)",
    message: 'a source of type git, archive or registry needs a url',
    holds: ({ type, url }) => type === 'github' || url !== undefined,
  },
  {
    rule: "self.type != 'archive' || !has(self.url) || self.url.contains('{version}')",
    message:
      'the url of an archive must contain {version}, as in https://example.com/vpc-{version}.zip',
    holds: ({ type, url }) => type !== 'archive' || url === undefined || url.includes('{version}'),
  },
]

export const exactProvider: FieldRule<string> = {
  rule: "self == '*' || !self.matches('[*?{}]|\\\\[|\\\\]')",
  message:
    'must be * for every provider, or the exact name of one: providerResources takes no patterns',
  holds: (value) => value === '*' || !/[*?{}[\]]/.test(value),
}

export const exactNamespace: FieldRule<string> = {
  rule: "self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",
  message: 'must be the exact name of a namespace: publishNamespaces takes no patterns',
  holds: (value) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(value),
}

function noneOf(names: readonly string[], message: string): FieldRule<string> {
  const list = names.map((name) => `'${name}'`).join(', ')
  return { rule: `!(self in [${list}])`, message, holds: (value) => !names.includes(value) }
}

/** The fields of a Version that must agree. */
interface VersionFields {
  readonly type: ParentKind
  readonly moduleConfigRef?: object | undefined
  readonly providerConfigRef?: object | undefined
  readonly fileName?: string | undefined
  readonly operatingSystem?: string | undefined
  readonly architecture?: string | undefined
  readonly acceptBreaking?: boolean | undefined
}

export const refOfType: readonly FieldRule<VersionFields>[] = [
  {
    rule: "self.type == 'Module' || !has(self.moduleConfigRef)",
    message:
      'moduleConfigRef belongs to a Version of type Module: write providerConfigRef instead, or type: Module',
    holds: ({ type, moduleConfigRef }) => type === 'Module' || moduleConfigRef === undefined,
  },
  {
    rule: "self.type == 'Provider' || !has(self.providerConfigRef)",
    message:
      'providerConfigRef belongs to a Version of type Provider: write moduleConfigRef instead, or type: Provider',
    holds: ({ type, providerConfigRef }) => type === 'Provider' || providerConfigRef === undefined,
  },
  {
    rule: "self.type == 'Module' || !has(self.acceptBreaking)",
    message:
      'acceptBreaking belongs to a Version of type Module: remove it, because versions of providers are not compared',
    holds: ({ type, acceptBreaking }) => type === 'Module' || acceptBreaking === undefined,
  },
]

export const platformOfProvider: FieldRule<VersionFields> = {
  rule: "self.type != 'Provider' || (has(self.operatingSystem) && has(self.architecture))",
  message:
    'a Version of type Provider is one platform: write operatingSystem and architecture, such as linux and amd64',
  holds: ({ type, operatingSystem: os, architecture: arch }) =>
    type !== 'Provider' || (os !== undefined && arch !== undefined),
}

export const zipOfProvider: FieldRule<VersionFields> = {
  rule: "self.type != 'Provider' || !has(self.fileName) || self.fileName.lowerAscii().endsWith('.zip')",
  message: 'fileName of a Version of type Provider must end in .zip: CLIs accept nothing else',
  holds: ({ type, fileName: name }) =>
    type !== 'Provider' || name === undefined || name.toLowerCase().endsWith('.zip'),
}
