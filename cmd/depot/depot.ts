import packageJson from '../../package.json' with { type: 'json' }
import {
  controllerCommand,
  explainCommand,
  explorerCommand,
  importCommand,
  keygenCommand,
  lintCommand,
  serverCommand,
  syncCommand,
} from '../../pkg/base/options/options.ts'
import { runCommand } from '../../pkg/base/run/run.ts'

/** A command of `depot`. Its modules are large, so they are imported when it runs. */
interface DepotCommand {
  readonly summary: string
  run(args: readonly string[]): Promise<void>
}

const { version } = packageJson

export const commands: Readonly<Record<string, DepotCommand>> = {
  server: {
    summary: serverCommand.summary,
    run: async (args) => (await import('../server/server.ts')).server(args),
  },
  ui: {
    summary: explorerCommand.summary,
    run: async (args) => (await import('../ui/ui.ts')).ui(args),
  },
  controller: {
    summary: controllerCommand.summary,
    run: async (args) => (await import('../controller/controller.ts')).controller(args),
  },
  sync: {
    summary: syncCommand.summary,
    run: async (args) => (await import('../sync/sync.ts')).sync(args),
  },
  import: {
    summary: importCommand.summary,
    run: async (args) => (await import('../import/import.ts')).importArchives(args),
  },
  explain: {
    summary: explainCommand.summary,
    run: async (args) => {
      const { explain } = await import('../explain/explain.ts')
      await runCommand({
        command: explainCommand,
        args,
        version,
        main: ({ options }) => explain(options),
      })
    },
  },
  lint: {
    summary: lintCommand.summary,
    run: async (args) => {
      const { lint } = await import('../lint/lint.ts')
      await runCommand({
        command: lintCommand,
        args,
        version,
        main: ({ options, operands }) => lint(options, operands),
      })
    },
  },
  keygen: {
    summary: keygenCommand.summary,
    run: async (args) => {
      const { keygen } = await import('../keygen/keygen.ts')
      await runCommand({
        command: keygenCommand,
        args,
        version,
        main: ({ options }) => keygen(options),
      })
    },
  },
}
