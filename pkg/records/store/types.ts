import type { Reason } from '../../base/errors/errors.ts'
import type { ObjectPatch } from '../kube/kube.ts'
import type { ReadmeTexts } from '../readme/readme.ts'

/** The kinds that reconcilers handle. */
export type ObjectKind = 'Depot' | 'Module' | 'Provider' | 'Version' | 'GroupBinding'

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

interface ObjectMetadata {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** Name of this state of the object. A later write can require it. */
  readonly resourceVersion: string
  /** Changes with each change of the spec. In a cluster, it increases; in a folder, it does not. */
  readonly generation: number
  readonly creationTimestamp: string
  /** Set while the object waits for its finalizers to be removed. */
  readonly deletionTimestamp?: string
  /**
   * In a folder: the object is about to be deleted, because the manifest of its owner is absent. Nothing is written until
   * {@link Objects.delete} is called. If the owner returns before, the object stays.
   */
  readonly ownerAbsent?: true
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly finalizers: readonly string[]
  readonly ownerReferences: readonly OwnerReference[]
}

/** An object with all of its fields. It is shared, so never change it: make a copy. */
export interface StoredObject<Spec = unknown, Status = unknown> {
  readonly kind: ObjectKind
  readonly metadata: ObjectMetadata
  readonly spec: Spec
  readonly status?: Status
}

export interface StoredRef {
  readonly kind: ObjectKind
  readonly namespace: string
  readonly name: string
}

/** An object as a controller wants it. */
export interface AppliedObject {
  readonly kind: ObjectKind
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly OwnerReference[]
  }
  readonly spec: unknown
}

export interface ObjectFilter {
  readonly namespace?: string
  /** The uid in one of the ownerReferences; empty for objects without owners. */
  readonly ownerUid?: string
  /** Name and value, or a name alone for any value. */
  readonly label?: { readonly name: string; readonly value?: string }
}

export type ChangeListener = (
  ref: StoredRef,
  /** Undefined if it did not exist. */
  before: StoredObject | undefined,
  /** Undefined if it was removed. */
  after: StoredObject | undefined,
) => void

export interface ObjectEvent {
  readonly object: StoredObject
  readonly type: 'Normal' | 'Warning'
  /** A constant, such as `Synced`. */
  readonly reason: Reason
  /** For people, at most 1,024 characters. */
  readonly note: string
}

/** Small texts by key that a process stores for the next one. Every method throws ApiError. */
export interface Notes {
  all(): Promise<ReadonlyMap<string, string>>
  /** @param key of letters, digits and hyphens */
  put(key: string, text: string): Promise<void>
  drop(key: string): Promise<void>
}

/** Notes that every replica may write. */
export interface SharedNotes extends Notes {
  get(key: string): Promise<string | undefined>
}

/** Objects as reconcilers see them. Every method that writes throws ApiError. */
export interface Objects {
  /** Namespaces whose objects are in memory; undefined for all. */
  readonly namespaces: readonly string[] | undefined
  /** Whether the objects are in files. People remove files without waiting for finalizers. */
  readonly isFolder: boolean
  /** Something unreadable that may contain any object, such as a file with a mistake. */
  unreadable(): string | undefined
  /** Reads from memory, which has the writes of this process at once. */
  get(kind: ObjectKind, namespace: string, name: string): StoredObject | undefined
  /** Lists from memory, in any order. */
  list(kind: ObjectKind, filter?: ObjectFilter): StoredObject[]
  /**
   * Calls back for every change from now on, including those of this process.
   *
   * @returns a function that removes the listener
   */
  onChange(listener: ChangeListener): () => void
  /** Resolves once everything is in memory. */
  readonly ready: Promise<void>
  /** Reads from the cluster or folder. */
  fresh(kind: ObjectKind, namespace: string, name: string): Promise<StoredObject | undefined>
  /** Creates the object, or sets these fields. Labels, annotations, finalizers and fields of a spec that others wrote stay. */
  apply(object: AppliedObject): Promise<StoredObject>
  /**
   * Creates the object. It is written when this resolves. If several processes create it, one succeeds.
   *
   * @throws ApiError AlreadyExists
   */
  create(object: AppliedObject): Promise<StoredObject>
  /**
   * Changes finalizers and `forceSync`.
   *
   * @throws ApiError Conflict if the object is no longer in the state `resourceVersion`; Invalid if a `test` fails
   */
  patch(
    ref: StoredRef,
    patch: ObjectPatch,
    options?: { readonly resourceVersion?: string },
  ): Promise<StoredObject>
  /**
   * Replaces the status. Nothing is sent if nothing would change.
   *
   * @param object the state that the status was made from
   * @param options.isProgress whether it only reports progress: a folder keeps that in memory
   * @throws ApiError Conflict if the object is in another state now
   */
  writeStatus(
    object: StoredObject,
    status: unknown,
    options?: { readonly isProgress?: boolean },
  ): Promise<StoredObject>
  /**
   * Writes an object that sync created again, if its file in a folder is damaged: empty, cut or unparsable. The content of the
   * file stays in a hidden file next to it. Waits until the file has had the same content for a while.
   *
   * @param object as it should be written
   * @param isProven whether storage has the archive of a Version; called if the file is damaged
   * @returns false if its file is not damaged, or is being written
   */
  mend?(object: StoredObject, isProven: () => Promise<boolean>): Promise<boolean>
  /** Whether an object waits for its finalizers when people delete it. A file that they remove does not. */
  waitsForFinalizers(object: StoredObject): boolean
  /**
   * Deletes an object. A missing one is not an error.
   *
   * @param options.whileOwnerAbsent keep it if its owner has returned
   * @param options.byAnyReplica even without the lease, as objects are created
   */
  delete(
    ref: StoredRef,
    options?: {
      readonly uid?: string
      readonly whileOwnerAbsent?: boolean
      readonly byAnyReplica?: boolean
    },
  ): Promise<void>
  /**
   * Keeps the README and the interface of a Version in a ConfigMap that is deleted with the Version, or removes it. Nothing is
   * written if nothing would change. A folder writes it together with a Version that is still to be written.
   *
   * @param texts undefined if the Version has none
   * @throws ApiError Conflict if a ConfigMap of another owner has its name
   */
  writeReadme(version: StoredObject, texts: ReadmeTexts | undefined): Promise<void>
  /** Whether that ConfigMap has these keys, because anybody may delete it, and a full disk may cut its file. */
  hasReadme(version: StoredObject, keys: readonly string[]): Promise<boolean>
  /** Never throws and never waits. The same event is written at most every ten minutes. */
  event(event: ObjectEvent): void
  /** Values of a Secret by key; undefined if it does not exist. */
  secret(namespace: string, name: string): Promise<Readonly<Record<string, Buffer>> | undefined>
  readonly notes: Notes
  /** Callers who publish over HTTP, until the status of the Version names them. Only in a cluster. */
  readonly publications?: SharedNotes
  close(): Promise<void>
}

export interface FolderObjects extends Objects {
  /** Mistakes in the manifests, one per line. */
  mistakes(): string[]
  /** Objects that sync created for an absent owner, and removes once the folder has had no changes for a while. */
  orphans(): StoredObject[]
  /** Resolves once every absent object is removed or has returned. */
  settled(): Promise<void>
}
