import type { OptionTable } from './table.ts'
import { baseUrl } from './urls.ts'
import { durationMs, list, name, onOff, path, sizeBytes } from './values.ts'

/** How large archives may be, wherever they come from. */
export const limitOptions = {
  moduleSizeLimitBytes: {
    flag: 'module-size-limit',
    value: sizeBytes,
    default: '100MiB',
    meaning: 'How large the archive of a module may be.',
  },
  moduleUnpackedLimitBytes: {
    flag: 'module-unpacked-limit',
    value: sizeBytes,
    default: '500MiB',
    meaning: 'What the files of a module may take, unpacked.',
  },
  providerSizeLimitBytes: {
    flag: 'provider-size-limit',
    value: sizeBytes,
    default: '2GiB',
    meaning: 'How large the archive of a platform of a provider may be.',
  },
  providerUnpackedLimitBytes: {
    flag: 'provider-unpacked-limit',
    value: sizeBytes,
    default: '4GiB',
    meaning: 'What the files of a platform of a provider may take, unpacked.',
  },
} satisfies OptionTable

/** How archives are fetched, verified and stored, wherever the resources are. */
export const fetchingOptions = {
  filesystemMountPath: {
    flag: 'filesystem-mount-path',
    value: path,
    default: '/data/modules',
    meaning: 'Root of archives on the file system; nothing outside of it is written.',
  },
  spoolDir: {
    flag: 'spool-dir',
    value: path,
    default: '/var/lib/depot/spool',
    meaning: 'Directory for archives on their way to storage, and for lists of upstream versions.',
  },
  spoolSizeBytes: {
    flag: 'spool-size',
    value: sizeBytes,
    default: '10GiB',
    meaning: 'How much archives on their way may take; what does not fit waits.',
  },
  ...limitOptions,
  githubSecretName: {
    flag: 'github-secret-name',
    value: name,
    default: 'depot-github',
    meaning:
      'Secret with credentials for GitHub, in the namespace of a resource, where the resource names none.',
  },
  githubApiUrl: {
    flag: 'github-api-url',
    value: baseUrl,
    default: 'https://api.github.com',
    meaning: 'API of GitHub where a resource names none; one of GitHub Enterprise, for example.',
  },
  upstreamHosts: {
    flag: 'upstream-hosts',
    value: list,
    default: 'registry.opentofu.org',
    meaning:
      'Registries that modules and providers may come from; the first is the default. `host:port` for another port than 443.',
  },
  sourceHosts: {
    flag: 'source-hosts',
    value: list,
    default:
      'github.com,api.github.com,codeload.github.com,raw.githubusercontent.com,objects.githubusercontent.com,release-assets.githubusercontent.com',
    meaning: 'Hosts that repositories and their archives may be fetched from.',
  },
  egressAllow: {
    flag: 'egress-allow',
    value: list,
    otherwise: 'none',
    meaning: 'More hosts that may be asked.',
  },
  egressPrivateCidrs: {
    flag: 'egress-private-cidrs',
    value: list,
    otherwise: 'none',
    meaning:
      'Private networks that hosts named by the options may have addresses in, such as `10.0.0.0/8`.',
  },
  egressPublicDownloads: {
    flag: 'egress-public-downloads',
    value: onOff,
    default: 'true',
    meaning: 'Whether an archive that an upstream names may come from any public host by HTTPS.',
  },
  egressCaPath: {
    flag: 'egress-ca-path',
    value: path,
    meaning: 'PEM file of authorities that upstreams may be certified by, beside the usual ones.',
  },
} satisfies OptionTable

/** How often stored archives are looked at, and how long deleted ones stay. */
export const upkeepOptions = {
  verifyIntervalMs: {
    flag: 'verify-interval',
    value: durationMs({ least: '1m', most: '8760h' }),
    default: '24h',
    meaning: 'How often it is looked whether each stored archive is there.',
  },
  rehashIntervalMs: {
    flag: 'rehash-interval',
    value: durationMs({ least: '1m', most: '8760h' }),
    default: '720h',
    meaning: 'How often all of each stored archive is read and hashed.',
  },
  archiveDeleteDelayMs: {
    flag: 'archive-delete-delay',
    value: durationMs({ least: '0', most: '24h' }),
    default: '60s',
    meaning: 'How long the archive of a deleted Version stays, so that servers have seen it.',
  },
} satisfies OptionTable
