import {
  configOfParent,
  type Module,
  type Provider,
  type StorageConfig,
} from '../apis/v1alpha1/v1alpha1.ts'
import { revisionOf } from './revision.ts'

/** A Module or Provider, as far as it is served. */
export class ResourceRow {
  readonly kind: 'Module' | 'Provider'
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** Name in storage, and the name that Versions without an owner reference may use for their parent. */
  readonly configName: string
  readonly storage: StorageConfig | undefined
  /** Target system of a module; undefined where any will do, and for providers. */
  readonly system: string | undefined
  /** Plugin protocols of a provider. */
  readonly protocols: readonly string[] | undefined
  /** Of a module's archives, where their names do not tell. */
  readonly fileFormat: 'zip' | 'tar' | undefined
  readonly labels: Readonly<Record<string, string>>
  generation = 0

  constructor(resource: Module | Provider) {
    const { metadata } = resource
    const config = configOfParent(resource)
    this.kind = resource.kind
    this.namespace = metadata.namespace
    this.name = metadata.name
    this.revision = revisionOf(metadata.resourceVersion)
    this.configName = config.name ?? metadata.name
    this.storage = config.storageConfig
    this.system = resource.kind === 'Module' ? resource.spec.moduleConfig.provider : undefined
    this.protocols =
      resource.kind === 'Provider' ? resource.spec.providerConfig.protocols : undefined
    this.fileFormat = resource.kind === 'Module' ? resource.spec.moduleConfig.fileFormat : undefined
    this.labels = metadata.labels
  }
}
