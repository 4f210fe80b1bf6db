import { controllerCommand } from './controller.ts'
import { limitOptions } from './fetching.ts'
import { logOptions, outputOption } from './printing.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { archivesOption, countTo, durationMs, oneOf, onOff, path, sizeBytes } from './values.ts'
import { storageVariables } from './variables.ts'

const { apiGroup, kubeconfig, manifests } = serverCommand.options
const { adminListen, watchNamespaces, shutdownGracePeriodMs } = controllerCommand.options

const options = flagged({
  adminListen: {
    ...adminListen,
    meaning: 'Address of `/metrics`, `/livez` and `/readyz`. Not used with `--manifests`.',
  },
  apiGroup,
  kubeconfig: {
    ...kubeconfig,
    meaning: 'Kubeconfig with which the scanner accesses the cluster.',
  },
  manifests: {
    ...manifests,
    meaning:
      'Directory of YAML manifests to scan the archives of, once, instead of a cluster. Findings are written into it.',
  },
  watchNamespaces: {
    ...watchNamespaces,
    meaning: 'Scan the Versions of these namespaces only.',
  },
  archives: {
    ...archivesOption,
    default: '/data/modules',
    meaning: 'Root folder of archives on the file system. It is only read.',
  },
  scanner: {
    value: oneOf('a scanner', 'trivy', 'exec').meta({ title: 'SCANNER' }),
    default: 'trivy',
    meaning:
      'Scanner: trivy, or exec for any program. Depot starts it as `COMMAND source|binary FOLDER`. It must write a JSON list of findings, and end with 0.',
  },
  scannerCommand: {
    value: path,
    otherwise: '/usr/local/bin/trivy for trivy',
    meaning: 'Path of the scanner program.',
  },
  scanProviders: {
    value: onOff,
    default: 'true',
    meaning: 'Scan providers too, not only modules.',
  },
  scannerOffline: {
    value: onOff,
    default: 'true',
    meaning:
      'Scan without network: Trivy uses the databases that it has, and programs get a network of their own where the system allows that.',
  },
  trivyCacheDir: {
    value: path,
    default: '/var/lib/depot/trivy',
    meaning: 'Directory with the databases of Trivy. It is only read with `--scanner-offline`.',
  },
  workDir: {
    value: path,
    default: '/var/lib/depot/scans',
    meaning:
      'Directory for unpacked archives and what scanners write. Anything else in it is removed.',
  },
  workSizeBytes: {
    value: sizeBytes,
    default: '10GiB',
    meaning: 'Maximum size of packed archives in work. Others wait.',
  },
  ...limitOptions,
  scanSlots: {
    value: countTo(99),
    default: '1',
    meaning: 'How many archives to scan concurrently.',
  },
  scanDeadlineMs: {
    value: durationMs({ least: '1s', most: '24h' }),
    default: '10m',
    meaning: 'Maximum time of one scan.',
  },
  rescanIntervalMs: {
    value: durationMs({ least: '1m', most: '8760h' }),
    default: '24h',
    meaning: 'Minimum time between two scans of the same archive.',
  },
  block: {
    value: oneOf('a severity that blocks', 'CRITICAL', 'HIGH').meta({ title: 'SEVERITY' }),
    otherwise: 'only what a scanPolicy blocks',
    meaning:
      'Quarantine versions with findings of this severity, or a worse one. A `scanPolicy` can only block more, and name findings to ignore. Without it, versions are served even before their first scan.',
  },
  shutdownGracePeriodMs,
  output: { ...outputOption, meaning: 'Output format with `--manifests`: text or json.' },
  ...logOptions,
})

/** Scans stored archives. */
export const scannerCommand = {
  program: 'depot scanner',
  summary:
    'Scans stored archives with Trivy or another program: those of a cluster all the time, those of a folder once. Exit status with `--manifests`: 1 if a scan failed, 2 for wrong options.',
  examples: [
    'depot scanner --manifests registry --archives archives --work-dir scans --trivy-cache-dir ~/.cache/trivy',
    'depot scanner --scanner exec --scanner-command /usr/local/bin/my-scanner',
  ],
  options,
  groups: {
    adminListen: 'Process',
    apiGroup: 'Records and archives',
    scanner: 'Scans',
    moduleSizeLimitBytes: 'Limits',
    shutdownGracePeriodMs: 'End and log',
  },
  secrets: {},
  variables: storageVariables,
  rules: [
    ({ given, text, name }) =>
      text('scanner') === 'exec' && !given('scannerCommand')
        ? `${name('scannerCommand')}: name the program that scans`
        : undefined,
  ],
} satisfies Command<typeof options>

export type ScannerCommandOptions = Options<typeof options>
