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
    Forbidden: [403, 'A right is missing. Have the right that the message names granted.'],
    NotFound: [404, 'It does not exist, or the caller may not see it. Check its address.'],
    MethodNotAllowed: [405, 'The path does not take this method. Use one that Allow names.'],
    Gone: [410, 'The version was withdrawn. Take the one that the message names, or another one.'],
    TooLarge: [413, 'Something exceeds a limit. The message names the limit.'],
    UnsupportedMediaType: [415, 'The body has another format. Send one that the message names.'],
    RangeNotSatisfiable: [416, 'The archive does not have the range. Ask for bytes that it has.'],
    Internal: [500, 'This is a bug in Depot. Report it, with the line of the log.'],
    NotConfigured: [501, 'A setting is missing or wrong. Correct what the message names.'],
    BadGateway: [502, 'A service behind Depot gave a wrong answer. The log says which.'],
    StorageCredentialsRefused: [
      502,
      'The archive storage does not accept the credentials of the server. Its operator renews them.',
    ],
    Unavailable: [503, 'Something that is needed is unavailable. Try again in a moment.'],
    GatewayTimeout: [504, 'A service behind Depot took too long. Try again in a moment.'],
  },
  /** Why a caller is refused; the answer has the reason of its status. */
  callers: {
    NoCredentials: [401, 'There are no credentials. Log in with `terraform login`.'],
    MalformedCredentials: [401, 'The credentials cannot be read. Send them as they were issued.'],
    KubeconfigRefused: [401, 'The kubeconfig cannot be used. Change what the message names.'],
    WrongIssuer: [401, 'The token is from another issuer. Log in with `terraform login`.'],
    InvalidTokenSignature: [401, 'The signature of the token is not valid. Log in again.'],
    TokenExpired: [401, 'The token has expired or is not valid yet. Log in again.'],
    WrongAudience: [401, 'The token is for another audience. Have the issuer add this one.'],
    InvalidClaims: [401, 'A claim is missing or not valid. Have the issuer correct it.'],
    ClusterUnauthenticated: [401, 'The cluster refuses the credentials. Renew them.'],
    GroupsMissing: [403, 'The token has no list of groups. Have the issuer add the claim.'],
    BindingFailed: [403, 'A GroupBinding cannot be evaluated. Correct its expression.'],
    NoBinding: [403, 'No GroupBinding matches the groups of the caller. Add one.'],
    ClusterForbidden: [403, 'RBAC of the cluster does not allow it. Grant the right there.'],
    ClusterUnavailable: [503, 'The cluster that decides is unreachable. Try again in a moment.'],
    IssuerUnavailable: [503, 'The OIDC issuer is unreachable. Try again in a moment.'],
    Busy: [503, 'Too many callers are waiting. Try again in a moment.'],
  },
  /** Why a sign-in to the explorer fails. */
  signIns: {
    SignInDenied: ['fix', 'The person or the identity provider refused access. Sign in again.'],
    SignInRefused: ['fix', "The identity provider's answer is not acceptable. The log says why."],
    NoSignInAttempt: ['fix', 'This browser began no such sign-in, or too long ago. Try again.'],
    NoSession: ['fix', 'The browser did not keep the session. Allow cookies for the explorer.'],
    TooManyGroups: ['fix', 'The token is too large for cookies. Have its groups filtered.'],
  },
  /** Why an object is not served. */
  objects: {
    InvalidSyntax: ['fix', 'The text cannot be parsed. The message says where.'],
    Invalid: ['fix', 'The object breaks its definition or a rule. The message names the field.'],
    Duplicate: ['fix', 'Another place defines the same object. Remove one of the two.'],
    Unreadable: ['fix', 'The file cannot be read. Check its permissions and its encoding.'],
    AddressTaken: ['fix', 'Another object has the address. Rename one of the two.'],
    ParentMissing: [
      'fix',
      'A Version belongs to no Module or Provider. Correct its owner or config.',
    ],
    NotSemver: ['fix', 'The version is not a semantic version. Publish it with one.'],
    NoPlatform: ['fix', 'A Version of a Provider names no platform. Set it in its spec.'],
    NoFileName: ['fix', 'The name of the archive is missing or not valid. Set spec.fileName.'],
    NoStorage: ['fix', 'No storageConfig says where the archive is. Set one.'],
    Quarantined: [
      'fix',
      'A policy or a person withdrew the version. Take another one, or remove the cause.',
    ],
    ReleaseIncomplete: [
      'fix',
      'A release of a provider lacks platforms. Publish it again with the same zips.',
    ],
    NoDigest: ['fix', 'The checksum is missing or malformed. Set spec.upload.sha256, or wait.'],
  },
  /** How requests to the API server and watches end. Depot goes on by itself after each. */
  cluster: {
    StreamClosed: ['fine', 'The API server closed a watch, as it does every few minutes.'],
    StreamTooShort: [
      'retry',
      'A watch was closed before its time. Check the proxies in front of the API server.',
    ],
    StreamIdle: ['retry', 'Nothing came for too long. Check the network if it happens often.'],
    ServerError: ['retry', 'The API server failed. See its log.'],
    ErrorEvent: ['retry', 'A watch sent an error. The log has its message.'],
    DefinitionMissing: ['retry', 'A custom resource is not defined. Apply config/crd.'],
    RevisionTooNew: ['retry', 'The API server has not seen the resourceVersion yet.'],
    RevisionExpired: ['retry', 'The resourceVersion is too old, and everything is listed again.'],
    RevisionWentBack: [
      'retry',
      'The resourceVersion is lower than before, as after a restore of etcd.',
    ],
    RecordsDiffer: ['retry', 'Changes were lost. Everything is listed again; the log says which.'],
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
    NoMetadata: ['retry', 'An object has no name or no resourceVersion.'],
    NoItems: ['retry', 'A list has no items or no resourceVersion.'],
    ObjectTooLarge: ['retry', 'An object is larger than any that etcd takes.'],
    Truncated: ['retry', 'The bytes end too early. Check the network and the storage.'],
    Conflict: ['retry', 'The object was changed in the meantime. It is read again.'],
    AlreadyExists: ['fix', 'An object of that name exists. Rename one of the two.'],
    NotHeld: ['retry', 'This replica may not write, because it does not hold the lease.'],
  },
  /** Why an archive or a download count did not arrive. */
  transfers: {
    ChecksumMismatch: [
      'fix',
      'The archive does not have its checksum. Have it stored or built again.',
    ],
    ClientGone: ['fine', 'The client closed the connection.'],
    StorageFailed: ['retry', 'The storage is unreachable or refuses. The message says what.'],
    DiskFailed: ['retry', 'A local file cannot be written. Check the disk and its free space.'],
    QueueFull: ['fix', 'Too many downloads wait to be counted. Check the download store.'],
    Corrupt: ['fix', 'A file of the queue is damaged. Check the disk.'],
    Expired: ['fix', 'A download waited for too long to be counted. Check the download store.'],
  },
  /** Mistakes in the expression or a pattern of a GroupBinding. */
  expressions: {
    UnknownName: ['fix', 'The expression uses a name that does not exist. Use `groups`.'],
    TypeMismatch: ['fix', 'An operator or function gets a value of a type that it does not take.'],
    InvalidPattern: ['fix', 'A pattern is malformed or too large. The message says where.'],
    Unsupported: ['fix', 'The expression uses a feature that group rules do not have.'],
    EvaluationFailed: ['fix', 'The expression fails for these groups. The message says where.'],
    WorkExceeded: ['fix', 'The expression takes too much work. Simplify it.'],
  },
  /** Why an upstream cannot be read. */
  upstreams: {
    EgressRefused: ['fix', 'The host or address is not allowed. Allow it, or name another one.'],
    RateLimited: [
      'retry',
      'The host allows no more requests for now. The message says until when.',
    ],
    Unreachable: ['retry', 'There is no connection. Check the network and the address.'],
    Timeout: ['retry', 'There was no answer in time. Check the network and the load.'],
    BadRedirect: ['retry', 'A redirect leads nowhere, or there are too many. Check the URL.'],
    BadStatus: ['retry', 'A download got another status than 200. Check the URL.'],
    InvalidSpec: ['fix', 'The spec cannot work. The message names the field.'],
    InvalidConstraint: ['fix', 'versionConstraints cannot be read. The message says where.'],
    SecretInvalid: ['fix', 'A Secret is missing or lacks a key. Create or complete it.'],
    GitUnavailable: [
      'fix',
      'The git program is missing. Install it, or use the image whose tag ends in `-git`.',
    ],
    NoListing: ['fix', 'This kind of source has no list of versions. List them in the spec.'],
    AccessDenied: ['retry', 'The upstream refuses the credential. Renew it or give it the right.'],
    UpstreamNotFound: ['retry', 'Upstream lacks the repository, tag or platform. Check its name.'],
    UpstreamTimeout: [
      'retry',
      'The upstream took a connection and sent nothing in time. Check the host and proxies between.',
    ],
    FetchFailed: ['retry', 'The upstream is unreachable, slow, or sends something else.'],
  },
  /** Why a version is not published. */
  publishing: {
    NoParent: ['fix', 'There is no such Module or Provider. Create it, or name its storage.'],
    VersionExists: ['fix', 'The version has other bytes already. Publish the next one.'],
    OlderVersion: ['fix', 'A later version of the same line exists. Publish a later one.'],
    FilesMissing: ['fix', 'Files of the release did not arrive here. Send them, and finish again.'],
    SecretFile: ['fix', 'A file looks like a secret or a state. Leave it out, or accept it.'],
    NoSecretFile: ['fix', '`--allow-file` names a file that it need not accept. Correct the name.'],
  },
  /** Why an archive is refused. The same bytes are refused again, so waits between attempts grow to hours. */
  archives: {
    NotAnArchive: ['fix', 'It is not an archive, or a damaged one. Publish it again.'],
    UnsafeArchive: [
      'fix',
      'A name, link or layout in the archive is not safe. Pack it without that.',
    ],
    ArchiveTooLarge: ['fix', 'The archive exceeds the limits. Raise them or make it smaller.'],
    Encrypted: ['fix', 'The archive is encrypted. Pack it without a password.'],
    BreakingChange: [
      'fix',
      'It breaks callers without a new major version. Publish it as one, or set spec.acceptBreaking.',
    ],
    NoModuleAtRoot: ['fix', 'The root of the module has no configuration. Name its directory.'],
    NoProviderInArchive: ['fix', 'The archive lacks the executable of the provider.'],
    Unsigned: ['fix', 'The release is not signed. Sign it, or set signature: IfPresent.'],
    SignatureInvalid: ['fix', 'The signature of the release is not valid. Ask its publisher.'],
    RuleRefused: [
      'fix',
      'A rule of the policy refuses it. Change the rule, or take another version.',
    ],
    SigningKeyChanged: ['fix', 'Another key signed it. Add it to trustedKeys to accept it.'],
  },
  /** Reasons of conditions and events of resources that are filled from upstream. */
  sync: {
    Synced: ['fine', 'Everything is stored and served as the spec says.'],
    Suspended: ['fine', 'spec.suspend is set.'],
    Progressing: ['fine', 'Work is in progress.'],
    WaitingForSpool: ['retry', 'The spool has no room at this moment. Raise --spool-size.'],
    SignatureVerified: ['fine', 'A trusted key signed the checksum of the archive.'],
    Stored: ['fine', 'The archive is in storage, and was read back.'],
    StorageNotGranted: ['fix', 'The namespace may not use that storage. Grant it the place.'],
    ArchiveMissing: ['retry', 'The archive that spec.upload names is not in storage. Upload it.'],
    ArchiveLost: ['fix', 'The stored archive is lost, and upstream changed. Delete the Version.'],
    ArchiveNotRemoved: ['retry', 'The archive of a deleted Version is still in storage.'],
    ArchiveReplaced: ['fine', 'The stored archive was replaced.'],
    ArchiveRemoved: ['fine', 'The archive of a deleted Version was removed.'],
    ArchiveLeft: ['fine', 'The archive of a deleted Version stays: something else may use it.'],
    Compatible: ['fine', 'Callers of the previous version can take it unchanged.'],
    Undecided: ['fine', 'Depot cannot decide whether it breaks callers. Compare the versions.'],
    BreakingAccepted: ['fine', 'It breaks callers, and spec.acceptBreaking accepts that.'],
    InStep: ['fine', 'Upstream has the content that is served.'],
    UpstreamChanged: ['fix', 'Upstream has other content. Delete the Version to accept it.'],
    UpstreamSubstitution: [
      'fix',
      'Upstream has other bytes under a version that is stored or waits. Ask its publisher why.',
    ],
    PartiallySynced: ['retry', 'Some of the children or items failed. Each says why.'],
    SyncFailed: ['retry', 'All of the children or items failed. Each says why.'],
    OwnedByAnother: ['fix', 'The resource belongs to another owner. Annotate it to hand it over.'],
    NoConflict: ['fine', 'Every resource belongs to this object.'],
    UpstreamSuspicious: ['fix', 'Upstream lost most versions. Accept its list, or correct it.'],
    RemovalHeld: ['fix', 'Many versions are no longer wanted. Confirm, or undo the change.'],
    Excepted: ['fine', 'An exception lets a version in that is too young, or denied.'],
    HeldBack: ['fine', 'The policy holds versions back. Young ones are stored when old enough.'],
    QuarantineLifted: ['fine', 'The policy no longer denies the version. It is served again.'],
    ClockSkew: ['fix', 'The clocks of upstream and this machine differ. Correct the wrong one.'],
    PolicyExpired: ['fix', 'Rules of the policy have ended. Remove them, or extend them.'],
    ExceptionUnknown: ['fix', 'Exceptions name unknown versions. Correct or remove them.'],
    SourceChanged: ['retry', 'The source was changed, and the new one was not listed yet.'],
    UpstreamPlausible: ['fine', 'The lists of upstream are used.'],
    Scanned: ['fine', 'The archive was scanned. The message counts what was found.'],
    ScanFailed: ['retry', 'The scanner failed. The message has the end of its output.'],
    ScannerAbsent: ['fix', 'The scanner program cannot be started. Install it.'],
    SourceUnknown: ['fine', 'The source of a provider has no go.mod that could be read.'],
    NothingRecognised: [
      'fine',
      'The scanner recognised nothing in the archive, so nothing is known about it.',
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
