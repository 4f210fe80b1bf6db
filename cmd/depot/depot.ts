import packageJson from '../../package.json' with { type: 'json' }
import {
  backupCommand,
  compareCommand,
  completionCommand,
  completionScript,
  controllerCommand,
  docsCommand,
  doctorCommand,
  explainCommand,
  explorerCommand,
  importCommand,
  keygenCommand,
  lintCommand,
  planCommand,
  restoreCommand,
  serverCommand,
  snapshotCommand,
  syncCommand,
  type Tables,
  whyCommand,
} from '../../pkg/base/options/options.ts'
import { runCommand } from '../../pkg/base/run/run.ts'

/** A command of `depot`. Its modules are large, so they are imported when it runs. */
interface DepotCommand {
  /** Heading before this command in the usage. */
  readonly heading?: string
  readonly tables: Tables
  run(args: readonly string[]): Promise<void>
}

const { version } = packageJson

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
  import: {
    tables: importCommand,
    run: async (args) => (await import('../import/import.ts')).importArchives(args),
  },
  lint: {
    heading: 'Check',
    tables: lintCommand,
    run: (args) =>
      runCommand({
        command: lintCommand,
        args,
        version,
        main: async ({ options, operands }) =>
          (await import('../lint/lint.ts')).lint(options, operands),
      }),
  },
  docs: {
    tables: docsCommand,
    run: (args) =>
      runCommand({
        command: docsCommand,
        args,
        version,
        main: async ({ options, operands }) =>
          (await import('../docs/docs.ts')).docs(options, operands),
      }),
  },
  compare: {
    tables: compareCommand,
    run: (args) =>
      runCommand({
        command: compareCommand,
        args,
        version,
        main: async ({ options, operands }) =>
          (await import('../compare/compare.ts')).compare(options, operands),
      }),
  },
  plan: {
    tables: planCommand,
    run: (args) =>
      runCommand({
        command: planCommand,
        args,
        version,
        mistakeStatus: 1,
        main: async ({ options, operands }) =>
          (await import('../plan/plan.ts')).plan(options, operands),
      }),
  },
  why: {
    tables: whyCommand,
    run: (args) =>
      runCommand({
        command: whyCommand,
        args,
        version,
        main: async ({ options, operands }) =>
          (await import('../why/why.ts')).why(options, operands),
      }),
  },
  explain: {
    tables: explainCommand,
    run: (args) =>
      runCommand({
        command: explainCommand,
        args,
        version,
        main: async ({ options, operands }) =>
          (await import('../explain/explain.ts')).explain(options, operands),
      }),
  },
  backup: {
    heading: 'Operate',
    tables: backupCommand,
    run: (args) =>
      runCommand({
        command: backupCommand,
        args,
        version,
        main: async ({ options }) => (await import('../backup/backup.ts')).backup(options),
      }),
  },
  restore: {
    tables: restoreCommand,
    run: (args) =>
      runCommand({
        command: restoreCommand,
        args,
        version,
        main: async ({ options, operands }) =>
          (await import('../restore/restore.ts')).restore(options, operands),
      }),
  },
  doctor: {
    tables: doctorCommand,
    run: async (args) => (await import('../doctor/doctor.ts')).doctor(args),
  },
  snapshot: {
    tables: snapshotCommand,
    run: (args) =>
      runCommand({
        command: snapshotCommand,
        args,
        version,
        main: async ({ options }) => (await import('../snapshot/snapshot.ts')).snapshot(options),
      }),
  },
  keygen: {
    heading: 'Set up',
    tables: keygenCommand,
    run: (args) =>
      runCommand({
        command: keygenCommand,
        args,
        version,
        main: async ({ options }) => (await import('../keygen/keygen.ts')).keygen(options),
      }),
  },
  completion: {
    tables: completionCommand,
    run: (args) =>
      runCommand({
        command: completionCommand,
        args,
        version,
        main: ({ operands }) =>
          completionScript(
            operands,
            Object.values(commands).map(({ tables }) => tables),
          ),
      }),
  },
}
