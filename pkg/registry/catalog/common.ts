import {
  normalizeVersion,
  parentRefOf,
  placeOfVersion,
  type ScanSummary,
  sha256Hex,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Common } from './row-context.ts'

/** Fields that many Versions have in common. */
export function commonOf(version: Version): Common {
  const { metadata, spec, status } = version
  const ref = parentRefOf(version)
  const isProvider = spec.type === 'Provider'
  return {
    namespace: metadata.namespace,
    kind: spec.type,
    parentName: ref?.name,
    ownerUid: ref?.owned === true ? ref.uid : undefined,
    system: spec.moduleConfigRef?.provider,
    tagPrefix: tagPrefixOf(version),
    os: isProvider ? spec.operatingSystem : undefined,
    arch: isProvider ? spec.architecture : undefined,
    protocols: spec.protocols ?? spec.providerConfigRef?.protocols,
    ...placeOfVersion(version),
    sourceScannedBy: by(isProvider ? status?.dependencyScan : status?.scan),
    binaryScannedBy: isProvider ? by(status?.scan) : undefined,
    isNew: isNew(version),
    // A Version that was published by its digest is in sync without a status of a controller.
    synced: status?.synced ?? spec.upload?.sha256 !== undefined,
    syncStatus: status?.syncStatus ?? '',
  }
}

const by = (scan: ScanSummary | undefined): Common['sourceScannedBy'] =>
  scan && { scanner: scan.scanner, database: scan.database }

/** Neither a controller nor a scanner has processed what was published. */
const isNew = ({ spec: { upload }, status }: Version): boolean =>
  upload !== undefined &&
  status?.artifact === undefined &&
  status?.scan?.sha256 !== sha256Hex(upload.sha256)

/** A tag with another spelling of the version counts as unknown. */
function tagPrefixOf({ spec, status }: Version): string | undefined {
  const [, tag] = /^(.+)@sha\d+:/.exec(status?.artifact?.revision ?? '') ?? []
  const version = normalizeVersion(spec.version)
  return tag?.endsWith(version) ? tag.slice(0, tag.length - version.length) : undefined
}
