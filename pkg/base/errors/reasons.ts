/**
 * The reaction to a reason is an HTTP status or one of: `fix`, a person has to change something first; `retry`, trying again
 * helps, and Depot does; `fine`, nothing is wrong. The first sentence of a text says what happened,
 * the rest what to do about it.
 */
type Row = readonly [reaction: Status | 'fix' | 'retry' | 'fine', text: string]
type Rows = Readonly<Record<string, Row>>
type Status = 400 | 401 | 403 | 404 | 405 | 410 | 413 | 415 | 416 | 500 | 501 | 502 | 503 | 504

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
    NoCredentials: [401, 'The request has no credentials. Log in with `terraform login`.'],
    MalformedCredentials: [401, 'The credentials cannot be parsed. Send them as they were issued.'],
    KubeconfigRefused: [401, 'The kubeconfig is not accepted. Change what the message names.'],
    WrongIssuer: [401, 'The token is from another issuer. Log in with `terraform login`.'],
    InvalidTokenSignature: [401, 'The signature of the token is not valid. Log in again.'],
    TokenExpired: [401, 'The token has expired or is not valid yet. Log in again.'],
    WrongAudience: [401, 'The token is for another audience. Let the issuer add this one.'],
    InvalidClaims: [401, 'A claim is missing or not valid. Let the issuer correct it.'],
    ClusterUnauthenticated: [401, 'The cluster refuses the credentials. Renew the credentials.'],
    GroupsMissing: [403, 'The token has no list of groups. Let the issuer add the claim.'],
    BindingFailed: [403, 'A GroupBinding cannot be evaluated. Correct its expression.'],
    NoBinding: [403, 'No GroupBinding matches the groups of the caller. Add one that does.'],
    ClusterForbidden: [
      403,
      'RBAC of the cluster does not allow it. Grant the right in the cluster.',
    ],
    ClusterUnavailable: [
      503,
      'The cluster that checks callers is unreachable. Try again in a moment.',
    ],
    IssuerUnavailable: [503, 'The OIDC issuer is unreachable. Try again in a moment.'],
    Busy: [503, 'Too many callers are waiting. Try again in a moment.'],
  },
  /** Why a sign-in to the explorer fails. */
  signIns: {
    SignInDenied: ['fix', 'The person or the identity provider refused access. Sign in again.'],
    SignInRefused: ['fix', 'The answer of the identity provider is not valid. The log says why.'],
    NoSignInAttempt: ['fix', 'The sign-in began in another browser, or too long ago. Try again.'],
    NoSession: ['fix', 'The browser did not keep the session. Allow cookies for the explorer.'],
    TooManyGroups: ['fix', 'The token is too large for cookies. Let the issuer send fewer groups.'],
  },
  /** Why an object is not served. */
  objects: {
    InvalidSyntax: ['fix', 'The text cannot be parsed. The message says where.'],
    Invalid: ['fix', 'The object violates its definition or a rule. The message names the field.'],
    Duplicate: ['fix', 'Another file or resource defines the same object. Remove one of the two.'],
    Unreadable: ['fix', 'The file cannot be read. Check its permissions and its encoding.'],
    AddressTaken: ['fix', 'Another object has the same address. Rename one of the two.'],
    ParentMissing: [
      'fix',
      'A Version belongs to no Module or Provider. Correct its owner or config.',
    ],
    NotSemver: ['fix', 'The version is not a semantic version. Use one such as 1.2.3.'],
    NoPlatform: ['fix', 'A Version of a Provider has no platform. Set it in the spec.'],
    NoFileName: ['fix', 'The name of the archive is missing or not valid. Set spec.fileName.'],
    NoStorage: ['fix', 'No storageConfig says where the archive is. Set it.'],
    Quarantined: [
      'fix',
      'A policy or a person withdrew the version. Use another version, or remove the cause.',
    ],
    ReleaseIncomplete: [
      'fix',
      'Platforms of a provider release are missing. Publish the release again with the same zips.',
    ],
    NoDigest: [
      'fix',
      'The checksum is missing or malformed. Wait until the version is synced, or set spec.upload.sha256.',
    ],
  },
  /** How requests to the API server and watches end. Depot goes on by itself after each. */
  cluster: {
    StreamClosed: ['fine', 'The API server closed a watch, as it does every few minutes.'],
    StreamTooShort: ['retry', 'A watch was closed too early. Check proxies before the API server.'],
    StreamIdle: [
      'retry',
      'A watch was silent for too long. If it happens often, check the network.',
    ],
    ServerError: ['retry', 'The API server failed. See its log.'],
    ErrorEvent: ['retry', 'A watch sent an error. The log has its message.'],
    DefinitionMissing: ['retry', 'A custom resource is not defined. Apply config/crd.'],
    RevisionTooNew: ['retry', 'The API server has not seen the resourceVersion yet.'],
    RevisionExpired: ['retry', 'The resourceVersion is too old. Depot lists everything again.'],
    RevisionWentBack: [
      'retry',
      'The resourceVersion decreased, for example after a restore of etcd.',
    ],
    RecordsDiffer: [
      'retry',
      'Depot missed changes. It lists everything again; the log has details.',
    ],
    UndecodableAnswer: [
      'retry',
      'An answer cannot be read. Check the proxies in front of the API server.',
    ],
    NotJson: ['retry', 'The answer is not JSON. Check the proxies in front of the API server.'],
    NotAnEvent: ['retry', 'A line is not an event. Check the proxies in front of the API server.'],
    UnknownEventType: [
      'retry',
      'An event has an unknown type. Check the proxies in front of the API server.',
    ],
    NoMetadata: [
      'retry',
      'An object has no name or no resourceVersion. Check the proxies in front of the API server.',
    ],
    NoItems: [
      'retry',
      'A list has no items or no resourceVersion. Check the proxies in front of the API server.',
    ],
    ObjectTooLarge: ['retry', 'An object is larger than etcd allows. Make it smaller.'],
    Truncated: ['retry', 'The bytes end too early. Check the network and the storage.'],
    Conflict: ['retry', 'The object was changed in the meantime. Depot reads it again.'],
    AlreadyExists: ['fix', 'An object of that name exists. Rename one of the two.'],
    NotHeld: ['retry', 'This replica may not write, because it does not hold the lease.'],
  },
  /** Why an archive or a download count did not arrive. */
  transfers: {
    ChecksumMismatch: ['fix', 'The archive does not match its checksum. Store or build it again.'],
    ClientGone: ['fine', 'The client closed the connection.'],
    StorageFailed: ['retry', 'The storage is unreachable or refuses. The message has the cause.'],
    DiskFailed: ['retry', 'A local file cannot be written. Check the disk and its free space.'],
    QueueFull: ['fix', 'Too many downloads wait to be counted. Check the store of the counts.'],
    Corrupt: ['fix', 'A file of the queue is damaged. Check the disk.'],
    Expired: ['fix', 'A download waited too long to be counted. Check the store of the counts.'],
  },
  /** Mistakes in the expression or a pattern of a GroupBinding. */
  expressions: {
    UnknownName: ['fix', 'The expression uses a name that does not exist. Use `groups`.'],
    TypeMismatch: [
      'fix',
      'An operator or function gets a value of the wrong type. Correct the expression.',
    ],
    InvalidPattern: ['fix', 'A pattern is malformed or too large. The message says where.'],
    Unsupported: [
      'fix',
      'The expression uses a feature that GroupBindings do not support. Replace what the message names; docs/authentication.md lists what is not supported.',
    ],
    EvaluationFailed: ['fix', 'The expression fails for these groups. The message says where.'],
    WorkExceeded: ['fix', 'The expression needs too much computing time. Simplify it.'],
  },
  /** Why an upstream cannot be read. */
  upstreams: {
    EgressRefused: ['fix', 'The host or address is not allowed. Allow it, or use another one.'],
    RateLimited: ['retry', 'The host allows no more requests for now. The message has the time.'],
    Unreachable: ['retry', 'Depot cannot connect. Check the network and the address.'],
    Timeout: ['retry', 'The answer took too long. Check the network and the load.'],
    BadRedirect: ['retry', 'There are too many redirects, or one is not valid. Check the URL.'],
    BadStatus: ['retry', 'A download got a status other than 200. Check the URL.'],
    InvalidSpec: ['fix', 'The spec contains a mistake. The message names the field.'],
    InvalidConstraint: ['fix', 'versionConstraints cannot be parsed. The message says where.'],
    SecretInvalid: ['fix', 'A Secret or one of its keys is missing. Create the Secret or the key.'],
    GitUnavailable: [
      'fix',
      'The git program is missing. Install it, or use the image whose tag ends in `-git`.',
    ],
    NoListing: ['fix', 'This type of source cannot list versions. List the versions in the spec.'],
    AccessDenied: ['retry', 'Upstream refuses the credentials. Renew them, or grant the right.'],
    UpstreamNotFound: [
      'retry',
      'Upstream has no such repository, tag or platform. Check its name.',
    ],
    UpstreamTimeout: [
      'retry',
      'Upstream accepted a connection, but did not answer. Check proxies.',
    ],
    FetchFailed: [
      'retry',
      'The upstream is unreachable, too slow, or sends something unexpected. Check its address and the network.',
    ],
  },
  /** Why a version is not published. */
  publishing: {
    NoParent: ['fix', 'The Module or Provider does not exist. Create it, or name its storage.'],
    VersionExists: ['fix', 'The version has other content already. Publish a new version.'],
    OlderVersion: [
      'fix',
      'A newer version with the same minor number exists. Publish a newer one.',
    ],
    FilesMissing: [
      'fix',
      'The controller lacks files of the release. Send them, and finish again.',
    ],
    SecretFile: ['fix', 'A file looks like a secret or a state. Remove it, or use `--allow-file`.'],
    NoSecretFile: [
      'fix',
      '`--allow-file` names a file that needs no permission. Correct the name.',
    ],
  },
  /** Why an archive is refused. The same bytes are refused again, so waits between attempts grow to hours. */
  archives: {
    NotAnArchive: ['fix', 'The file is not an archive, or is damaged. Publish it again.'],
    UnsafeArchive: ['fix', 'A name, link or layout in the archive is not safe. Pack it without.'],
    ArchiveTooLarge: ['fix', 'The archive exceeds the limits. Raise them, or make it smaller.'],
    Encrypted: ['fix', 'The archive is encrypted. Pack it without a password.'],
    BreakingChange: [
      'fix',
      'The version breaks callers. Publish a new major version, or set spec.acceptBreaking.',
    ],
    NoModuleAtRoot: ['fix', 'The archive has no configuration at its root. Set its path.'],
    NoProviderInArchive: [
      'fix',
      'The archive does not contain the executable of the provider. Publish one that does.',
    ],
    Unsigned: ['fix', 'The release is not signed. Sign it, or set signature: IfPresent.'],
    SignatureInvalid: ['fix', 'The signature of the release is not valid. Ask its publisher.'],
    RuleRefused: [
      'fix',
      'A rule of the policy refuses it. Change the rule, or use another version.',
    ],
    SigningKeyChanged: [
      'fix',
      'Another key signed the release. If you trust it, add it to trustedKeys.',
    ],
  },
  /** Reasons of conditions and events of resources that are filled from upstream. */
  sync: {
    Synced: ['fine', 'Everything that the spec demands is stored.'],
    Suspended: ['fine', 'spec.suspend is set.'],
    Progressing: ['fine', 'Work is in progress.'],
    WaitingForSpool: [
      'retry',
      'The spool is full at the moment. If it happens often, raise --spool-size.',
    ],
    SignatureVerified: ['fine', 'A trusted key signed the checksum of the archive.'],
    Stored: ['fine', 'The archive is in storage, and Depot has read it back.'],
    StorageNotGranted: [
      'fix',
      'The namespace may not use this storage. Grant it to the namespace.',
    ],
    ArchiveMissing: ['retry', 'The archive that spec.upload names is not in storage. Upload it.'],
    ArchiveLost: ['fix', 'The stored archive is lost, and upstream changed. Delete the Version.'],
    ArchiveNotRemoved: ['retry', 'The archive of a deleted Version is still in storage.'],
    ArchiveReplaced: ['fine', 'The stored archive was replaced.'],
    ArchiveRemoved: ['fine', 'The archive of a deleted Version was removed.'],
    ArchiveLeft: ['fine', 'The archive of a deleted Version stays: something else may use it.'],
    Compatible: ['fine', 'Callers of the previous version can use this one without a change.'],
    Undecided: ['fine', 'Depot cannot decide whether it breaks callers. Compare the versions.'],
    BreakingAccepted: ['fine', 'The version breaks callers, and spec.acceptBreaking accepts that.'],
    InStep: ['fine', 'Upstream has the same content as the stored archive.'],
    UpstreamChanged: ['fix', 'Upstream has other content. To accept it, delete the Version.'],
    UpstreamSubstitution: [
      'fix',
      'Upstream changed a version that is stored or waits. Ask its publisher why.',
    ],
    PartiallySynced: ['retry', 'Some children or configs failed. Each has its own message.'],
    SyncFailed: ['retry', 'All children or configs failed. Each has its own message.'],
    OwnedByAnother: ['fix', 'The resource has another owner. Annotate it to hand it over.'],
    NoConflict: ['fine', 'No other owner manages a resource of this Depot.'],
    UpstreamSuspicious: [
      'fix',
      'Most versions are missing upstream. Accept the list, or correct it.',
    ],
    RemovalHeld: ['fix', 'A change would remove many versions. Confirm it, or undo the change.'],
    Excepted: ['fine', 'An exception lets in a version that is too young or denied.'],
    HeldBack: ['fine', 'The policy holds versions back. Young ones are stored when old enough.'],
    QuarantineLifted: ['fine', 'The policy no longer denies the version. Depot serves it again.'],
    ClockSkew: ['fix', 'The clocks of upstream and Depot differ. Correct the wrong one.'],
    PolicyExpired: ['fix', 'Entries of the policy have expired. Remove or extend them.'],
    ExceptionUnknown: [
      'fix',
      'Exceptions name versions that do not exist. Correct or remove them.',
    ],
    SourceChanged: ['retry', 'The source was changed, and Depot has not listed the new one yet.'],
    UpstreamPlausible: ['fine', 'Depot uses the list of upstream.'],
    Scanned: ['fine', 'The archive was scanned. The message counts what was found.'],
    ScanFailed: ['retry', 'The scanner failed. The message has the end of its output.'],
    ScannerAbsent: ['fix', 'The scanner program cannot be started. Install it.'],
    SourceUnknown: ['fine', 'Depot could not read a go.mod of the provider.'],
    NothingRecognised: [
      'fine',
      'The scanner recognised nothing, so the vulnerabilities are unknown.',
    ],
    Compiled: ['fine', 'Servers can evaluate the GroupBinding.'],
    InvalidExpression: ['fix', 'The expression does not compile. The message says where.'],
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
