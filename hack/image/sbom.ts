import { createHash } from 'node:crypto'
import type { SpdxPackage } from './packages.ts'
import type { GoModule, NodeBinary, SystemPackage } from './system-packages.ts'

/*
 * The software bill of materials as SPDX 2.3: everything in the image. A scanner that looks at the image sees only Debian's
 * packages, because a bundle hides its parts.
 */

export type Sbom = {
  readonly name: string
  readonly version: string
  /** Seconds since 1970, of the commit: the same sources make the same file. */
  readonly epoch: number
  readonly packages: readonly SpdxPackage[]
  readonly system: readonly SystemPackage[]
  readonly modules: readonly GoModule[]
  readonly node: NodeBinary
}

const nodeEntry = ({ version, sha256 }: NodeBinary) => ({
  name: 'node',
  SPDXID: 'SPDXRef-Node',
  versionInfo: version,
  packageFileName: '/nodejs/bin/node',
  downloadLocation: `https://nodejs.org/download/release/v${version}/`,
  filesAnalyzed: false,
  checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }],
  licenseDeclared: 'MIT',
  externalRefs: [
    {
      referenceCategory: 'PACKAGE-MANAGER',
      referenceType: 'purl',
      referenceLocator: `pkg:generic/node@${version}`,
    },
    {
      referenceCategory: 'SECURITY',
      referenceType: 'cpe23Type',
      referenceLocator: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    },
  ],
})

interface NamedPackage {
  readonly id: string
  readonly name: string
  readonly version: string
  /** Package URL. */
  readonly purl: string
}

const entryOf = ({ id, name, version, purl }: NamedPackage) => ({
  name,
  SPDXID: `SPDXRef-${id}`,
  versionInfo: version,
  downloadLocation: 'NOASSERTION',
  filesAnalyzed: false,
  licenseDeclared: 'NOASSERTION',
  externalRefs: [
    { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl },
  ],
})

const systemEntry = ({ name, version, architecture }: SystemPackage) =>
  entryOf({
    id: `Debian-${name.replaceAll('+', '-plus')}`,
    name,
    version,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
  })

const moduleEntry = ({ name, version }: GoModule) =>
  entryOf({
    id: `Go-${name.replaceAll(/[^A-Za-z0-9.-]/g, '-')}-${version.replaceAll('+', '-')}`,
    name,
    version,
    purl: `pkg:golang/${name}@${encodeURIComponent(version)}`,
  })

export function sbom({ name, version, epoch, packages, system, modules, node }: Sbom): string {
  const root = {
    name,
    SPDXID: 'SPDXRef-Image',
    versionInfo: version,
    primaryPackagePurpose: 'CONTAINER',
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: 'Apache-2.0',
  }
  const contents = [
    ...packages,
    nodeEntry(node),
    ...system.map(systemEntry),
    ...modules.map(moduleEntry),
  ]
  const digest = createHash('sha256').update(JSON.stringify(contents)).digest('hex')
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${name}-${version}`,
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${version}-${digest}`,
    creationInfo: {
      created: new Date(epoch * 1000).toISOString().replace('.000Z', 'Z'),
      creators: ['Tool: hack/image'],
    },
    documentDescribes: [root.SPDXID],
    packages: [root, ...contents],
    relationships: contents.map(({ SPDXID }) => ({
      spdxElementId: root.SPDXID,
      relatedSpdxElement: SPDXID,
      relationshipType: 'CONTAINS',
    })),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
