import * as tables from '../../pkg/base/options/options.ts'
import { type CommandRun, runCommand } from '../../pkg/base/run/run.ts'

/** A command of `depot`. Its modules are large, so they are imported when it runs. */
interface DepotCommand {
  readonly tables: tables.Tables
  run(args: readonly string[]): Promise<void>
}

/** The work of a command. It returns the output, or the exit status. */
type Work<T extends tables.OptionTable, S extends tables.SecretTable> = (
  options: Given<T, S>['options'],
  operands: readonly string[],
  secrets: Given<T, S>['secrets'],
) => ReturnType<CommandRun<T, S>['main']>

type Given<T extends tables.OptionTable, S extends tables.SecretTable> = Extract<
  tables.Parsed<T, S>,
  { kind: 'options' }
>

/** A command whose work is the export with its name. */
const row = <N extends string, T extends tables.OptionTable, S extends tables.SecretTable>(
  name: N,
  command: tables.Command<T, S>,
  load: () => Promise<Readonly<Record<N, Work<T, S>>>>,
  more: Pick<CommandRun<T, S>, 'mistakeStatus' | 'alsoWrong'> = {},
): readonly [N, DepotCommand] => [
  name,
  {
    tables: command,
    run: (args) =>
      runCommand({
        command,
        args,
        ...more,
        main: async ({ options, operands, secrets }) => {
          const { [name]: work } = await load()
          return work(options, operands, secrets)
        },
      }),
  },
]

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

export const commands: Readonly<Record<string, DepotCommand>> = Object.fromEntries([
  row('server', tables.serverCommand, () => import('../server/server.ts'), {
    alsoWrong: async (readable) => (await import('../server/server.ts')).unusableFiles(readable),
  }),
  row('ui', tables.explorerCommand, () => import('../ui/ui.ts')),
  row('controller', tables.controllerCommand, () => import('../controller/controller.ts')),
  row('sync', tables.syncCommand, () => import('../sync/sync.ts')),
  row('scanner', tables.scannerCommand, () => import('../scanner/scanner.ts')),
  row('import', tables.importCommand, () => import('../import/import.ts')),
  row('publish', tables.publishCommand, () => import('../publish/publish.ts')),
  row('deprecate', tables.deprecateCommand, lifecycle),
  row('yank', tables.yankCommand, lifecycle),
  row('quarantine', tables.quarantineCommand, lifecycle),
  row('activate', tables.activateCommand, lifecycle),
  row('lint', tables.lintCommand, () => import('../lint/lint.ts')),
  row('docs', tables.docsCommand, () => import('../docs/docs.ts')),
  row('compare', tables.compareCommand, () => import('../compare/compare.ts')),
  row('findings', tables.findingsCommand, () => import('../findings/findings.ts')),
  row('outdated', tables.outdatedCommand, () => import('../outdated/outdated.ts')),
  row('consumers', tables.consumersCommand, () => import('../consumers/consumers.ts')),
  row('hash', tables.hashCommand, () => import('../hash/hash.ts')),
  row('plan', tables.planCommand, () => import('../plan/plan.ts'), { mistakeStatus: 1 }),
  row('why', tables.whyCommand, () => import('../why/why.ts')),
  row('policy', tables.policyCommand, () => import('../policy/policy.ts')),
  row('explain', tables.explainCommand, () => import('../explain/explain.ts')),
  row('backup', tables.backupCommand, () => import('../backup/backup.ts')),
  row('restore', tables.restoreCommand, () => import('../restore/restore.ts')),
  [
    'doctor',
    {
      tables: tables.doctorCommand,
      run: async (args: readonly string[]) => (await import('../doctor/doctor.ts')).doctor(args),
    },
  ],
  row('snapshot', tables.snapshotCommand, () => import('../snapshot/snapshot.ts')),
  row('keygen', tables.keygenCommand, () => import('../keygen/keygen.ts')),
  row('completion', tables.completionCommand, async () => ({
    completion: (_, operands) =>
      tables.completionScript(
        operands,
        Object.values(commands).map((command) => command.tables),
      ),
  })),
])
