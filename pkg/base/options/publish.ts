import * as z from 'zod'
import { registryOptions } from './compare.ts'
import { limitOptions } from './fetching.ts'
import { importCommand } from './import.ts'
import { outputOption } from './printing.ts'
import { apart, needs } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { archivesOption, list, name, path, toggle } from './values.ts'
import { storageVariables } from './variables.ts'

const { manifests, kubeconfig, apiGroup } = serverCommand.options
const { tagPrefix, storageConfig } = importCommand.options
const options = flagged({
  to: {
    value: z
      .string()
      .regex(/^[^/]+(?:\/[^/]+){1,3}$/, {
        error:
          'is not an address: write HOST/NAMESPACE/NAME/SYSTEM without https://, or HOST/NAMESPACE/TYPE for a provider; with --direct, without HOST',
      })
      .meta({ title: 'ADDRESS' }),
    meaning:
      'Address: HOST/NAMESPACE/NAME/SYSTEM of a module, or HOST/NAMESPACE/TYPE of a provider. With `--direct`, without HOST.',
  },
  version: {
    value: name,
    // DEPOT_VERSION may be the release of Depot that CI installs.
    variable: 'DEPOT_PUBLISH_VERSION',
    otherwise: 'the tag of the checked out commit, or the version in the names of the zips',
    meaning: 'Version to publish.',
  },
  tagPrefix: { ...tagPrefix, meaning: 'Prefix of tags before the version, such as `vpc/`.' },
  allowFile: {
    value: list,
    otherwise: 'none',
    meaning:
      'Files to accept although they look like secrets or states. States, `.terraform` and `.git` are never part of the archive.',
  },
  dryRun: toggle('Print what would be published and what prevents that, and write nothing.'),
  noWait: toggle('Return when the version is stored, before the registry serves it.'),
  tokenFile: {
    value: path,
    otherwise: 'the identity of the CI job, otherwise the tokens of Terraform and OpenTofu',
    meaning: 'File with the token for the registry.',
  },
  idTokenAudience: {
    value: name,
    otherwise: '`https://HOST` of `--to`',
    meaning:
      'Audience to request the token of a GitHub Actions job for: the `audience` of the publish issuer.',
  },
  ...registryOptions,
  direct: toggle(
    'Write to storage and records with your own credentials: those of the kubeconfig and of the storage, or the files of a folder.',
  ),
  manifests: {
    ...manifests,
    meaning:
      'Folder of manifests to publish into, in place of a cluster. It is created if it is missing.',
  },
  archives: {
    ...archivesOption,
    otherwise: './archives with `--manifests`, otherwise required for storage in a folder',
    meaning: 'Root folder of archives whose `storageConfig` is `fileSystem`, as of `depot server`.',
  },
  kubeconfig: {
    ...kubeconfig,
    meaning: 'Kubeconfig whose user creates the Version, and may list the resources of Depot.',
  },
  storageConfig: {
    ...storageConfig,
    otherwise:
      'the directory `archives` below `--archives` with `--manifests`, otherwise the module has to exist',
    meaning: 'YAML file with the `storageConfig` of a module that does not exist yet.',
  },
  apiGroup,
  ...limitOptions,
  output: outputOption,
})

/** Publishes a version of a module or provider. */
export const publishCommand = {
  program: 'depot publish',
  operands: 'module FOLDER|ARCHIVE, or provider FOLDER',
  summary:
    'Publishes a version of a module or provider to a registry, a folder or a cluster. It packs a module, compares it with the previous version, and shows what breaks callers. It checks the zips of a provider. Exit status: 0 if the version is published, 1 if it was refused, 2 for wrong options, 3 if something did not answer: run the same command again.',
  examples: [
    'depot publish module . --to depot.example.com/network/vpc/aws',
    'depot publish module . --to network/vpc/aws --version 1.4.0 --direct --manifests registry',
    'depot publish module . --to network/vpc/aws --direct --dry-run',
    'depot publish provider dist --to depot.example.com/platform/cmdb',
    'depot publish provider dist --to platform/cmdb --direct --manifests registry',
  ],
  options,
  groups: {
    to: 'Version',
    dryRun: 'Work',
    direct: 'Registry',
    moduleSizeLimitBytes: 'Limits and output',
  },
  variables: {
    DEPOT_ID_TOKEN: 'Token of a CI job, as `id_tokens` of GitLab sets it.',
    ...storageVariables,
  },
  rules: [
    apart('manifests', 'kubeconfig', 'manifests take the place of a cluster'),
    ({ given, name: flag }) =>
      given('to') ? undefined : `${flag('to')} is missing: write --to HOST/NAMESPACE/NAME/SYSTEM`,
    apart('version', 'tagPrefix', 'no tag is read'),
    apart('direct', 'tokenFile', 'no registry is asked'),
    apart('direct', 'idTokenAudience', 'no registry is asked'),
    apart('tokenFile', 'idTokenAudience', 'the token of the file has its audience'),
    apart('direct', 'noWait', 'no registry is asked'),
    apart('dryRun', 'noWait', 'nothing is published'),
    apart('direct', 'egressAllow', 'no registry is asked'),
    apart('direct', 'egressCaPath', 'no registry is asked'),
    ...(['manifests', 'kubeconfig', 'apiGroup', 'archives', 'storageConfig'] as const).map(
      (option) => needs(option, ['direct']),
    ),
  ],
} satisfies Command<typeof options>

export type PublishCommandOptions = Options<typeof options>
