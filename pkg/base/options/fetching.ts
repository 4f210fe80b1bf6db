import { flagged, type Options } from './table.ts'
import { baseUrl } from './urls.ts'
import { archivesOption, durationMs, list, name, onOff, path, sizeBytes, toggle } from './values.ts'

/** Limits of archives from any source. */
export const limitOptions = flagged({
  moduleSizeLimitBytes: {
    value: sizeBytes,
    default: '100MiB',
    meaning: 'Maximum archive size of a module.',
  },
  moduleUnpackedLimitBytes: {
    value: sizeBytes,
    default: '500MiB',
    meaning: 'Maximum unpacked size of a module.',
  },
  providerSizeLimitBytes: {
    value: sizeBytes,
    default: '2GiB',
    meaning: 'Maximum archive size of a provider for one platform.',
  },
  providerUnpackedLimitBytes: {
    value: sizeBytes,
    default: '4GiB',
    meaning: 'Maximum unpacked size of a provider for one platform.',
  },
})

/** Options for fetching, verifying and storing archives, for clusters and folders. */
export const fetchingOptions = flagged({
  archives: {
    ...archivesOption,
    default: '/data/modules',
    meaning: 'Root folder of archives on the file system. Depot writes nothing outside of it.',
  },
  spoolDir: {
    value: path,
    default: '/var/lib/depot/spool',
    meaning:
      'Directory for archives in transit to storage, and for cached lists of upstream versions.',
  },
  spoolSizeBytes: {
    value: sizeBytes,
    default: '10GiB',
    meaning: 'Maximum size of archives in transit. Others wait.',
  },
  ...limitOptions,
  githubSecretName: {
    value: name,
    default: 'depot-github',
    meaning: 'Default Secret with credentials for GitHub, in the namespace of the resource.',
  },
  githubApiUrl: {
    value: baseUrl,
    default: 'https://api.github.com',
    meaning: 'Default address of the GitHub API, for example of GitHub Enterprise.',
  },
  upstreamHosts: {
    value: list,
    default: 'registry.opentofu.org',
    meaning:
      'Registries from which modules and providers can come; the first is the default. Use `host:port` for ports other than 443.',
  },
  sourceHosts: {
    value: list,
    default:
      'github.com,api.github.com,codeload.github.com,raw.githubusercontent.com,objects.githubusercontent.com,release-assets.githubusercontent.com',
    meaning: 'Hosts from which repositories and their archives can be fetched.',
  },
  egressAllow: {
    value: list,
    otherwise: 'none',
    meaning: 'Additional hosts that can be contacted.',
  },
  egressPrivateCidrs: {
    value: list,
    otherwise: 'none',
    meaning: 'Private networks in which the hosts of these options can be, such as `10.0.0.0/8`.',
  },
  egressPublicDownloads: {
    value: onOff,
    default: 'true',
    meaning: 'Whether archives that a registry refers to can come from any public host by HTTPS.',
  },
  egressCaPath: {
    value: path,
    meaning: 'PEM file with additional certificate authorities for upstreams.',
  },
})

/** Options for the versions that may come in from upstreams. */
export const policyOptions = flagged({
  upstreamPolicy: {
    value: path,
    otherwise: 'none',
    meaning:
      'YAML file with the policy of the whole installation for versions that Depots bring in, with the fields of `spec.policy` of a Depot. Depots can only make it stricter. Its `deny` also quarantines versions of Modules and Providers that no Depot created. Depot applies changes of the file without a restart.',
  },
})

/** Options for what scanners read, but cannot fetch. */
export const sourceOptions = flagged({
  providerSources: toggle(
    'Fetch go.mod and go.sum of each provider version from its source repository, so that `depot scanner` scans them too.',
  ),
})

/** Headings of these options in the usage. */
export const fetchingGroups = {
  moduleSizeLimitBytes: 'Limits',
  githubSecretName: 'Upstreams',
} as const

export type FetchingOptions = Options<typeof fetchingOptions>

/** Options for the removal of archives that no Version needs. */
export const graceOptions = flagged({
  removalGraceMs: {
    formerFlag: 'archive-delete-delay',
    value: durationMs({ least: '0', most: '8760h' }),
    default: '24h',
    meaning:
      'How long to keep an archive in storage after the last Version that names it. If the Version is created again before then, it keeps its archive.',
  },
})

/** Options for the verification of stored archives and the removal of others. */
export const upkeepOptions = flagged({
  verifyIntervalMs: {
    value: durationMs({ least: '1m', most: '8760h' }),
    default: '24h',
    meaning: 'How often to check that a stored archive exists.',
  },
  rehashIntervalMs: {
    value: durationMs({ least: '1m', most: '8760h' }),
    default: '720h',
    meaning: 'How often to read and hash each stored archive completely.',
  },
  ...graceOptions,
})
