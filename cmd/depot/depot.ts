import {
  activateCommand,
  backupCommand,
  type Command,
  compareCommand,
  completionCommand,
  completionScript,
  consumersCommand,
  controllerCommand,
  deprecateCommand,
  docsCommand,
  doctorCommand,
  explainCommand,
  explorerCommand,
  findingsCommand,
  hashCommand,
  importCommand,
  keygenCommand,
  lintCommand,
  type OptionTable,
  outdatedCommand,
  type Parsed,
  planCommand,
  policyCommand,
  publishCommand,
  quarantineCommand,
  restoreCommand,
  type SecretTable,
  scannerCommand,
  serverCommand,
  snapshotCommand,
  syncCommand,
  type Tables,
  whyCommand,
  yankCommand,
} from '../../pkg/base/options/options.ts'
import { type CommandRun, runCommand } from '../../pkg/base/run/run.ts'

/** A command of `depot`. Its modules are large, so they are imported when it runs. */
interface DepotCommand {
  /** Heading before this command in the usage. */
  readonly heading?: string
  readonly tables: Tables
  run(args: readonly string[]): Promise<void>
}

/** The work of a command that prints its result and ends. */
type Work<T extends OptionTable, S extends SecretTable> = (
  options: Extract<Parsed<T, S>, { kind: 'options' }>['options'],
  operands: readonly string[],
) => ReturnType<CommandRun<T, S>['main']>

function printing<T extends OptionTable, S extends SecretTable>(
  command: Command<T, S>,
  load: () => Promise<Work<T, S>>,
  more: Pick<CommandRun<T, S>, 'mistakeStatus'> = {},
): DepotCommand {
  return {
    tables: command,
    run: (args) =>
      runCommand({
        command,
        args,
        ...more,
        main: async ({ options, operands }) => (await load())(options, operands),
      }),
  }
}

const lifecycle = () => import('../lifecycle/lifecycle.ts')

export const commands: Readonly<Record<string, DepotCommand>> = {
  server: {
    heading: 'Serve',
    tables: serverCommand,
    run: async (args) => (await import('../server/server.ts')).server(args),
  },
  ui: {
    tables: explorerCommand,
    run: async (args) => (await import('../ui/ui.ts')).ui(args),
  },
  controller: {
    heading: 'Fill',
    tables: controllerCommand,
    run: async (args) => (await import('../controller/controller.ts')).controller(args),
  },
  sync: {
    tables: syncCommand,
    run: async (args) => (await import('../sync/sync.ts')).sync(args),
  },
  scanner: {
    tables: scannerCommand,
    run: async (args) => (await import('../scanner/scanner.ts')).scanner(args),
  },
  import: {
    tables: importCommand,
    run: async (args) => (await import('../import/import.ts')).importArchives(args),
  },
  publish: printing(publishCommand, async () => (await import('../publish/publish.ts')).publish),
  deprecate: {
    heading: 'Withdraw',
    ...printing(deprecateCommand, async () => (await lifecycle()).withdraw('Deprecated')),
  },
  yank: printing(yankCommand, async () => (await lifecycle()).withdraw('Yanked')),
  quarantine: printing(quarantineCommand, async () => (await lifecycle()).withdraw('Quarantined')),
  activate: printing(activateCommand, async () => (await lifecycle()).activate),
  lint: {
    heading: 'Check',
    ...printing(lintCommand, async () => (await import('../lint/lint.ts')).lint),
  },
  docs: printing(docsCommand, async () => (await import('../docs/docs.ts')).docs),
  compare: printing(compareCommand, async () => (await import('../compare/compare.ts')).compare),
  findings: printing(
    findingsCommand,
    async () => (await import('../findings/findings.ts')).findings,
  ),
  outdated: printing(
    outdatedCommand,
    async () => (await import('../outdated/outdated.ts')).outdated,
  ),
  consumers: printing(
    consumersCommand,
    async () => (await import('../consumers/consumers.ts')).consumers,
  ),
  hash: printing(hashCommand, async () => (await import('../hash/hash.ts')).hash),
  plan: printing(planCommand, async () => (await import('../plan/plan.ts')).plan, {
    mistakeStatus: 1,
  }),
  why: printing(whyCommand, async () => (await import('../why/why.ts')).why),
  policy: printing(policyCommand, async () => (await import('../policy/policy.ts')).policy),
  explain: printing(explainCommand, async () => (await import('../explain/explain.ts')).explain),
  backup: {
    heading: 'Operate',
    ...printing(backupCommand, async () => (await import('../backup/backup.ts')).backup),
  },
  restore: printing(restoreCommand, async () => (await import('../restore/restore.ts')).restore),
  doctor: {
    tables: doctorCommand,
    run: async (args) => (await import('../doctor/doctor.ts')).doctor(args),
  },
  snapshot: printing(
    snapshotCommand,
    async () => (await import('../snapshot/snapshot.ts')).snapshot,
  ),
  keygen: {
    heading: 'Set up',
    ...printing(keygenCommand, async () => (await import('../keygen/keygen.ts')).keygen),
  },
  completion: printing(
    completionCommand,
    async () => (_, operands) =>
      completionScript(
        operands,
        Object.values(commands).map(({ tables }) => tables),
      ),
  ),
}
