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
  readonly tables: Tables
  run(args: readonly string[]): Promise<void>
}

/** A command that runs until it is stopped, or that reads its arguments itself. */
const program = (
  tables: Tables,
  load: () => Promise<(args: readonly string[]) => Promise<void>>,
): DepotCommand => ({ tables, run: async (args) => (await load())(args) })

/** The work of a command that prints its result and ends. */
type Work<T extends OptionTable, S extends SecretTable> = (
  options: Extract<Parsed<T, S>, { kind: 'options' }>['options'],
  operands: readonly string[],
) => ReturnType<CommandRun<T, S>['main']>

const printing = <T extends OptionTable, S extends SecretTable>(
  command: Command<T, S>,
  load: () => Promise<Work<T, S>>,
  more: Pick<CommandRun<T, S>, 'mistakeStatus'> = {},
): DepotCommand => ({
  tables: command,
  run: (args) =>
    runCommand({
      command,
      args,
      ...more,
      main: async ({ options, operands }) => (await load())(options, operands),
    }),
})

const lifecycle = () => import('../lifecycle/lifecycle.ts')

/** Headings of the usage, by the command that follows each. */
export const headings: Readonly<Record<string, string>> = {
  server: 'Serve',
  controller: 'Fill',
  deprecate: 'Withdraw',
  lint: 'Check',
  backup: 'Operate',
  keygen: 'Set up',
}

export const commands: Readonly<Record<string, DepotCommand>> = {
  server: program(serverCommand, async () => (await import('../server/server.ts')).server),
  ui: program(explorerCommand, async () => (await import('../ui/ui.ts')).ui),
  controller: program(
    controllerCommand,
    async () => (await import('../controller/controller.ts')).controller,
  ),
  sync: program(syncCommand, async () => (await import('../sync/sync.ts')).sync),
  scanner: program(scannerCommand, async () => (await import('../scanner/scanner.ts')).scanner),
  import: program(importCommand, async () => (await import('../import/import.ts')).importArchives),
  publish: printing(publishCommand, async () => (await import('../publish/publish.ts')).publish),
  deprecate: printing(deprecateCommand, async () => (await lifecycle()).withdraw('Deprecated')),
  yank: printing(yankCommand, async () => (await lifecycle()).withdraw('Yanked')),
  quarantine: printing(quarantineCommand, async () => (await lifecycle()).withdraw('Quarantined')),
  activate: printing(activateCommand, async () => (await lifecycle()).activate),
  lint: printing(lintCommand, async () => (await import('../lint/lint.ts')).lint),
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
  backup: printing(backupCommand, async () => (await import('../backup/backup.ts')).backup),
  restore: printing(restoreCommand, async () => (await import('../restore/restore.ts')).restore),
  doctor: program(doctorCommand, async () => (await import('../doctor/doctor.ts')).doctor),
  snapshot: printing(
    snapshotCommand,
    async () => (await import('../snapshot/snapshot.ts')).snapshot,
  ),
  keygen: printing(keygenCommand, async () => (await import('../keygen/keygen.ts')).keygen),
  completion: printing(completionCommand, async () => (_, operands) => {
    const tables = Object.values(commands).map((command) => command.tables)
    return completionScript(operands, tables)
  }),
}
