import type { PublishValues } from '../url/pages.ts'

/* Blocks to paste, filled in with the typed values. Empty fields are capital letters. */

export interface Filled extends PublishValues {
  readonly registryHost: string
  /** Whether the server takes archives. */
  readonly overHttp: boolean
  /** metadata.name of the Module or Provider, if there is one. */
  readonly object?: string | undefined
}

const nameOf = ({ name }: PublishValues): string => name || 'NAME'
const systemOf = ({ system }: PublishValues): string => system || 'SYSTEM'
const versionOf = ({ version }: PublishValues): string => version.replace(/^v/, '') || 'VERSION'

/** Names of objects have lower-case letters, digits, dashes and dots. */
const objectName = (text: string): string =>
  text.replaceAll('_', '-').replaceAll('+', '-build-').toLowerCase()

const parentOf = (filled: Filled): string => filled.object ?? objectName(nameOf(filled))

const head = (kind: string, name: string, namespace: string): string =>
  `apiVersion: depot.internal/v1alpha1
kind: ${kind}
metadata:
  name: ${name}
  namespace: ${namespace}
spec:`

/** Storage of archives, whose real values only its owner knows. */
const storage = (indent: string): string =>
  ['storageConfig:', '  fileSystem:', '    directoryPath: modules']
    .map((line) => indent + line)
    .join('\n')

export function depotBlock(filled: Filled): string {
  const { kind, namespace } = filled
  const name = nameOf(filled)
  const start = `${head('Depot', objectName(name), namespace)}\n  pollingIntervalMinutes: 60`
  if (kind === 'provider') {
    return `${start}
  providerConfigs:
    - name: ${name}
      namespace: ${namespace}
      upstreamHost: registry.example.com
${storage('      ').replace('modules', 'providers')}`
  }
  return `${start}
  moduleConfigs:
    - name: ${name}
      provider: ${systemOf(filled)}
      repoUrl: https://git.example.com/${namespace}/${name}
${storage('      ')}`
}

export function publishCommand(filled: Filled): string {
  const { kind, namespace, registryHost, overHttp } = filled
  const system = kind === 'module' ? `/${systemOf(filled)}` : ''
  const address = `${namespace}/${nameOf(filled)}${system}`
  const lines = [
    `depot publish ${kind} ${kind === 'module' ? '.' : 'dist'}`,
    `--to ${overHttp ? `${registryHost}/` : ''}${address}`,
    `--version ${versionOf(filled)}`,
    ...(overHttp ? [] : ['--direct --kubeconfig ~/.kube/config']),
  ]
  return lines.join(' \\\n  ')
}

/** CI systems that give a job its identity. */
export type Ci = 'github' | 'gitlab'

/** A job that publishes a tag. The version of a provider is in the names of its zips. */
export function ciJob(filled: Filled, ci: Ci): string {
  const { kind, namespace, registryHost } = filled
  const isModule = kind === 'module'
  const address = `${registryHost}/${namespace}/${nameOf(filled)}${isModule ? `/${systemOf(filled)}` : ''}`
  const tag = ci === 'github' ? '$GITHUB_REF_NAME' : '$CI_COMMIT_TAG'
  const version = isModule ? ` --version "${tag}"` : ''
  const command = `depot publish ${kind} ${isModule ? '.' : 'dist'} --to ${address}${version}`
  if (ci === 'gitlab') {
    return `publish:
  rules:
    - if: $CI_COMMIT_TAG
  id_tokens:
    DEPOT_ID_TOKEN:
      aud: https://${registryHost}
  script:
    # Needs depot on the PATH.
    - ${command}`
  }
  return `on:
  push:
    tags: ["v*"]
permissions:
  contents: read
  id-token: write
jobs:
  publish:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      # Needs depot on the PATH.
      - run: ${command}`
}

const fileName = (filled: Filled): string =>
  filled.kind === 'module'
    ? `${nameOf(filled)}-${versionOf(filled)}.zip`
    : `terraform-provider-${nameOf(filled)}_${versionOf(filled)}_linux_amd64.zip`

/** Name of the file with the manifests. */
export const manifestFile = (filled: Filled): string =>
  `${objectName(`${parentOf(filled)}-${versionOf(filled)}`)}.yaml`

/** A Version, and the Module or Provider if there is none yet. */
export function manifests(filled: Filled): string {
  const { kind, object, namespace } = filled
  const isModule = kind === 'module'
  const parent = parentOf(filled)
  const name = objectName(`${parent}-${versionOf(filled)}${isModule ? '' : '-linux-amd64'}`)
  const platform = isModule ? '' : '\n  operatingSystem: linux\n  architecture: amd64'
  const version = `${head('Version', name, namespace)}
  type: ${isModule ? 'Module' : 'Provider'}
  version: ${versionOf(filled)}${platform}
  fileName: ${fileName(filled)}
  ${isModule ? 'moduleConfigRef' : 'providerConfigRef'}:
    name: ${parent}
  upload:
    # sha256sum ${fileName(filled)}
    sha256: ""`
  if (object !== undefined) return version
  const config = [
    ...(parent === nameOf(filled) ? [] : [`    name: ${nameOf(filled)}`]),
    ...(isModule ? [`    provider: ${systemOf(filled)}`] : []),
  ]
  const missing = [
    head(isModule ? 'Module' : 'Provider', parent, namespace),
    `  ${isModule ? 'moduleConfig' : 'providerConfig'}:`,
    ...config,
    isModule ? storage('    ') : storage('    ').replace('modules', 'providers'),
  ]
  return `${missing.join('\n')}\n---\n${version}`
}
