/**
 * The reaction to a reason is an HTTP status or one of: `fix`, a person has to change something first; `retry`, trying again
 * helps, and Depot does; `fine`, nothing is wrong. The first sentence of a text says what happened,
 * the rest what to do about it.
 */
type Reaction = Status | 'fix' | 'retry' | 'fine'
type Row<R extends Reaction = Reaction> = readonly [reaction: R, text: string]
type Rows = Readonly<Record<string, Row>>
type Status = 400 | 401 | 403 | 404 | 405 | 410 | 413 | 415 | 416 | 500 | 501 | 502 | 503 | 504

/** Rows with the same reaction. */
const all = <const R extends Reaction, K extends string>(reaction: R, texts: Record<K, string>) =>
  Object.fromEntries(
    Object.entries<string>(texts).map(([reason, text]) => [reason, [reaction, text] as const]),
  ) as Readonly<Record<K, Row<R>>>

/** All reasons by topic, from which docs/errors.md is generated. A reason is in one topic, even if several packages use it. */
export const reasonTopics = {
  /** Errors that become answers of the registry and the explorer. */
  answers: {
    BadRequest: [400, 'The request is malformed. Correct what the message names.'],
    Unauthenticated: [401, 'The credentials are missing or not valid. Log in again.'],
    Forbidden: [403, 'The caller lacks a right. Ask for the right that the message names.'],
    NotFound: [404, 'The object does not exist, or the caller may not see it. Check the address.'],
    MethodNotAllowed: [405, 'The path does not support this method. See the header Allow.'],
    Gone: [410, 'The version was withdrawn. Use the one that the message names, or another.'],
    TooLarge: [413, 'Something exceeds a limit. The message names the limit.'],
    UnsupportedMediaType: [415, 'The body has the wrong format. Send one that the message names.'],
    RangeNotSatisfiable: [416, 'The range is outside of the archive. Request bytes that it has.'],
    Internal: [500, 'This is a bug in Depot. Report it, with the log line of the request.'],
    NotConfigured: [501, 'A setting is missing or wrong. The message names the setting.'],
    BadGateway: [502, 'A service behind Depot gave a wrong answer. The log says which.'],
    StorageCredentialsRefused: [
      502,
      'The archive storage does not accept the credentials of the server. Renew them.',
    ],
    Unavailable: [503, 'A service that Depot needs is unavailable. Try again in a moment.'],
    GatewayTimeout: [504, 'A service behind Depot took too long. Try again in a moment.'],
  },
  /** Why a caller is refused; the answer has the reason of its status. */
  callers: {
    ...all(401, {
      NoCredentials: 'The request has no credentials. Log in with `terraform login`.',
      MalformedCredentials: 'The credentials cannot be parsed. Send them as they were issued.',
      KubeconfigRefused: 'The kubeconfig is not accepted. Change what the message names.',
      WrongIssuer: 'The token is from another issuer. Log in with `terraform login`.',
      InvalidTokenSignature: 'The signature of the token is not valid. Log in again.',
      TokenExpired: 'The token has expired or is not valid yet. Log in again.',
      WrongAudience: 'The token is for another audience. Let the issuer add this one.',
      InvalidClaims: 'A claim is missing or not valid. Let the issuer correct it.',
      ClusterUnauthenticated: 'The cluster refuses the credentials. Renew the credentials.',
    }),
    ...all(403, {
      GroupsMissing: 'The token has no list of groups. Let the issuer add the claim.',
      BindingFailed: 'A GroupBinding cannot be evaluated. Correct its expression.',
      NoBinding: 'No GroupBinding matches the groups of the caller. Add one that does.',
      ClusterForbidden: 'RBAC of the cluster does not allow it. Grant the right in the cluster.',
    }),
    ...all(503, {
      ClusterUnavailable: 'The cluster that checks callers is unreachable. Try again in a moment.',
      IssuerUnavailable: 'The OIDC issuer is unreachable. Try again in a moment.',
      Busy: 'Too many callers are waiting. Try again in a moment.',
    }),
  },
  /** Why a sign-in to the explorer fails. */
  signIns: all('fix', {
    SignInDenied: 'The person or the identity provider refused access. Sign in again.',
    SignInRefused: 'The answer of the identity provider is not valid. The log says why.',
    NoSignInAttempt: 'The sign-in began in another browser, or too long ago. Try again.',
    NoSession: 'The browser did not keep the session. Allow cookies for the explorer.',
    TooManyGroups: 'The token is too large for cookies. Let the issuer send fewer groups.',
  }),
  /** Why an object is not served. */
  objects: all('fix', {
    InvalidSyntax: 'The text cannot be parsed. The message says where.',
    Invalid: 'The object violates its definition or a rule. The message names the field.',
    Duplicate: 'Another file or resource defines the same object. Remove one of the two.',
    Unreadable: 'The file cannot be read. Check its permissions and its encoding.',
    AddressTaken: 'Another object has the same address. Rename one of the two.',
    ParentMissing: 'A Version belongs to no Module or Provider. Correct its owner or config.',
    NotSemver: 'The version is not a semantic version. Use one such as 1.2.3.',
    NoPlatform: 'A Version of a Provider has no platform. Set it in the spec.',
    NoFileName: 'The name of the archive is missing or not valid. Set spec.fileName.',
    NoStorage: 'No storageConfig says where the archive is. Set it.',
    Quarantined:
      'A policy or a person withdrew the version. Use another version, or remove the cause.',
    ReleaseIncomplete:
      'Platforms of a provider release are missing. Publish the release again with the same zips.',
    NoDigest:
      'The checksum is missing or malformed. Wait until the version is synced, or set spec.upload.sha256.',
  }),
  /** How requests to the API server and watches end. Depot goes on by itself after each. */
  cluster: {
    StreamClosed: ['fine', 'The API server closed a watch, as it does every few minutes.'],
    ...all('retry', {
      StreamTooShort: 'A watch was closed too early. Check proxies before the API server.',
      StreamIdle: 'A watch was silent for too long. If it happens often, check the network.',
      ServerError: 'The API server failed. See its log.',
      ErrorEvent: 'A watch sent an error. The log has its message.',
      DefinitionMissing: 'A custom resource is not defined. Apply config/crd.',
      RevisionTooNew: 'The API server has not seen the resourceVersion yet.',
      RevisionExpired: 'The resourceVersion is too old. Depot lists everything again.',
      RevisionWentBack: 'The resourceVersion decreased, for example after a restore of etcd.',
      RecordsDiffer: 'Depot missed changes. It lists everything again; the log has details.',
      UndecodableAnswer: 'An answer cannot be read. Check the proxies in front of the API server.',
      NotJson: 'The answer is not JSON. Check the proxies in front of the API server.',
      NotAnEvent: 'A line is not an event. Check the proxies in front of the API server.',
      UnknownEventType:
        'An event has an unknown type. Check the proxies in front of the API server.',
      NoMetadata:
        'An object has no name or no resourceVersion. Check the proxies in front of the API server.',
      NoItems:
        'A list has no items or no resourceVersion. Check the proxies in front of the API server.',
      ObjectTooLarge: 'An object is larger than etcd allows. Make it smaller.',
      Truncated: 'The bytes end too early. Check the network and the storage.',
      Conflict: 'The object was changed in the meantime. Depot reads it again.',
      NotHeld: 'This replica may not write, because it does not hold the lease.',
    }),
    AlreadyExists: ['fix', 'An object of that name exists. Rename one of the two.'],
  },
  /** Why an archive or a download count did not arrive. */
  transfers: {
    ...all('fix', {
      ChecksumMismatch: 'The archive does not match its checksum. Store or build it again.',
      QueueFull: 'Too many downloads wait to be counted. Check the store of the counts.',
      Corrupt: 'A file of the queue is damaged. Check the disk.',
      Expired: 'A download waited too long to be counted. Check the store of the counts.',
    }),
    ClientGone: ['fine', 'The client closed the connection.'],
    ...all('retry', {
      StorageFailed: 'The storage is unreachable or refuses. The message has the cause.',
      DiskFailed: 'A local file cannot be written. Check the disk and its free space.',
    }),
  },
  /** Mistakes in the expression or a pattern of a GroupBinding. */
  expressions: all('fix', {
    UnknownName: 'The expression uses a name that does not exist. Use `groups`.',
    TypeMismatch: 'An operator or function gets a value of the wrong type. Correct the expression.',
    InvalidPattern: 'A pattern is malformed or too large. The message says where.',
    Unsupported:
      'The expression uses a feature that GroupBindings do not support. Replace what the message names; docs/authentication.md lists what is not supported.',
    EvaluationFailed: 'The expression fails for these groups. The message says where.',
    WorkExceeded: 'The expression needs too much computing time. Simplify it.',
  }),
  /** Why an upstream cannot be read. */
  upstreams: {
    ...all('fix', {
      EgressRefused: 'The host or address is not allowed. Allow it, or use another one.',
      InvalidSpec: 'The spec contains a mistake. The message names the field.',
      InvalidConstraint: 'versionConstraints cannot be parsed. The message says where.',
      SecretInvalid: 'A Secret or one of its keys is missing. Create the Secret or the key.',
      GitUnavailable:
        'The git program is missing. Install it, or use the image whose tag ends in `-git`.',
      NoListing: 'This type of source cannot list versions. List the versions in the spec.',
    }),
    ...all('retry', {
      RateLimited: 'The host allows no more requests for now. The message has the time.',
      Unreachable: 'Depot cannot connect. Check the network and the address.',
      Timeout: 'The answer took too long. Check the network and the load.',
      BadRedirect: 'There are too many redirects, or one is not valid. Check the URL.',
      BadStatus: 'A download got a status other than 200. Check the URL.',
      AccessDenied: 'Upstream refuses the credentials. Renew them, or grant the right.',
      UpstreamNotFound: 'Upstream has no such repository, tag or platform. Check its name.',
      UpstreamTimeout: 'Upstream accepted a connection, but did not answer. Check proxies.',
      FetchFailed:
        'The upstream is unreachable, too slow, or sends something unexpected. Check its address and the network.',
    }),
  },
  /** Why a version is not published. */
  publishing: all('fix', {
    NoParent: 'The Module or Provider does not exist. Create it, or name its storage.',
    VersionExists: 'The version has other content already. Publish a new version.',
    OlderVersion: 'A newer version with the same minor number exists. Publish a newer one.',
    FilesMissing: 'The controller lacks files of the release. Send them, and finish again.',
    SecretFile: 'A file looks like a secret or a state. Remove it, or use `--allow-file`.',
    NoSecretFile: '`--allow-file` names a file that needs no permission. Correct the name.',
  }),
  /** Why an archive is refused. The same bytes are refused again, so waits between attempts grow to hours. */
  archives: all('fix', {
    NotAnArchive: 'The file is not an archive, or is damaged. Publish it again.',
    UnsafeArchive: 'A name, link or layout in the archive is not safe. Pack it without.',
    ArchiveTooLarge: 'The archive exceeds the limits. Raise them, or make it smaller.',
    Encrypted: 'The archive is encrypted. Pack it without a password.',
    BreakingChange:
      'The version breaks callers. Publish a new major version, or set spec.acceptBreaking.',
    NoModuleAtRoot: 'The archive has no configuration at its root. Set its path.',
    NoProviderInArchive:
      'The archive does not contain the executable of the provider. Publish one that does.',
    Unsigned: 'The release is not signed. Sign it, or set signature: IfPresent.',
    SignatureInvalid: 'The signature of the release is not valid. Ask its publisher.',
    RuleRefused: 'A rule of the policy refuses it. Change the rule, or use another version.',
    SigningKeyChanged: 'Another key signed the release. If you trust it, add it to trustedKeys.',
  }),
  /** Reasons of conditions and events of resources that are filled from upstream. */
  sync: {
    ...all('fine', {
      Synced: 'Everything that the spec demands is stored.',
      Suspended: 'spec.suspend is set.',
      Progressing: 'Work is in progress.',
      SignatureVerified: 'A trusted key signed the checksum of the archive.',
      Stored: 'The archive is in storage, and Depot has read it back.',
      ArchiveReplaced: 'The stored archive was replaced.',
      ArchiveRemoved: 'The archive of a deleted Version was removed.',
      ArchiveLeft: 'The archive of a deleted Version stays: something else may use it.',
      Compatible: 'Callers of the previous version can use this one without a change.',
      Undecided: 'Depot cannot decide whether it breaks callers. Compare the versions.',
      BreakingAccepted: 'The version breaks callers, and spec.acceptBreaking accepts that.',
      InStep: 'Upstream has the same content as the stored archive.',
      NoConflict: 'No other owner manages a resource of this Depot.',
      Excepted: 'An exception lets in a version that is too young or denied.',
      HeldBack: 'The policy holds versions back. Young ones are stored when old enough.',
      QuarantineLifted: 'The policy no longer denies the version. Depot serves it again.',
      UpstreamPlausible: 'Depot uses the list of upstream.',
      Scanned: 'The archive was scanned. The message counts what was found.',
      SourceUnknown: 'Depot could not read a go.mod of the provider.',
      NothingRecognised: 'The scanner recognised nothing, so the vulnerabilities are unknown.',
      Compiled: 'Servers can evaluate the GroupBinding.',
    }),
    ...all('retry', {
      WaitingForSpool: 'The spool is full at the moment. If it happens often, raise --spool-size.',
      ArchiveMissing: 'The archive that spec.upload names is not in storage. Upload it.',
      ArchiveNotRemoved: 'The archive of a deleted Version is still in storage.',
      PartiallySynced: 'Some children or configs failed. Each has its own message.',
      SyncFailed: 'All children or configs failed. Each has its own message.',
      SourceChanged: 'The source was changed, and Depot has not listed the new one yet.',
      ScanFailed: 'The scanner failed. The message has the end of its output.',
    }),
    ...all('fix', {
      StorageNotGranted: 'The namespace may not use this storage. Grant it to the namespace.',
      ArchiveLost: 'The stored archive is lost, and upstream changed. Delete the Version.',
      UpstreamChanged: 'Upstream has other content. To accept it, delete the Version.',
      UpstreamSubstitution:
        'Upstream changed a version that is stored or waits. Ask its publisher why.',
      OwnedByAnother: 'The resource has another owner. Annotate it to hand it over.',
      UpstreamSuspicious: 'Most versions are missing upstream. Accept the list, or correct it.',
      RemovalHeld: 'A change would remove many versions. Confirm it, or undo the change.',
      ClockSkew: 'The clocks of upstream and Depot differ. Correct the wrong one.',
      PolicyExpired: 'Entries of the policy have expired. Remove or extend them.',
      ExceptionUnknown: 'Exceptions name versions that do not exist. Correct or remove them.',
      ScannerAbsent: 'The scanner program cannot be started. Install it.',
      InvalidExpression: 'The expression does not compile. The message says where.',
    }),
  },
} as const satisfies Record<string, Rows>

type Topics = typeof reasonTopics

/** Stable and greppable: the `reason` of errors, conditions, events, log lines and metrics. */
export type Reason = { [Topic in keyof Topics]: keyof Topics[Topic] }[keyof Topics]

/** A choice of reasons; the compiler refuses names that are not in the table. */
export type ReasonOf<R extends Reason> = R

/** Reasons of errors that become answers to a client. */
export type AnswerReason = keyof Topics['answers']

/** Reasons for which a caller is refused. */
export type CallerReason = keyof Topics['callers']

const rows = Object.fromEntries(
  Object.values(reasonTopics).flatMap((topic) => Object.entries<Row>(topic)),
) as Record<Reason, Row>

type StatusOf<R extends AnswerReason | CallerReason> = (Topics['answers'] & Topics['callers'])[R][0]

export function statusOf<R extends AnswerReason | CallerReason>(reason: R): StatusOf<R> {
  return rows[reason][0] as StatusOf<R>
}

/** Whether the same may succeed later, without a change by a person. */
export function mayPass(reason: Reason): boolean {
  const [reaction] = rows[reason]
  return reaction === 'retry' || (typeof reaction === 'number' && reaction > 501)
}
