import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { lessGarbage } from '../less-garbage.ts'

/** The CLIs that run the same tests, with their word for a signature by the registry's key. */
export const clis = [
  { name: 'terraform', path: inject('terraform'), trust: 'self-signed' },
  { name: 'tofu', path: inject('tofu'), trust: 'signed' },
] as const

export interface Outcome {
  readonly code: number
  /** stdout and stderr, without the line breaks of the CLI's wrapping. */
  readonly output: string
}

/** A configuration in its own folder, without any settings of this machine's user. */
export class Workspace {
  readonly #dir = mkdtempSync(join(tmpdir(), 'depot-e2e-cli-'))
  readonly #cli: string
  readonly dir = join(this.#dir, 'work')
  readonly #environment: NodeJS.ProcessEnv

  /**
   * @param url of the server that serves `depot.test`
   * @param configuration content of main.tf
   * @param environment more variables for the CLI
   */
  constructor(
    cli: string | undefined,
    url: string,
    configuration: string,
    environment: NodeJS.ProcessEnv = {},
  ) {
    this.#cli = cli ?? ''
    mkdirSync(this.dir)
    writeFileSync(join(this.dir, 'main.tf'), configuration)
    const config = join(this.#dir, 'cli.tfrc')
    const services = (['modules', 'providers'] as const)
      .map((kind) => `"${kind}.v1" = "${url}/depot/${kind}/v1/"\n`)
      .join('')
    writeFileSync(config, `host "depot.test" {\nservices = {\n${services}}\n}\n`)
    this.#environment = {
      PATH: process.env['PATH'],
      HOME: this.#dir,
      TF_CLI_CONFIG_FILE: config,
      TF_CLI_ARGS: '-no-color',
      TF_IN_AUTOMATION: '1',
      TF_INPUT: '0',
      TF_REGISTRY_CLIENT_TIMEOUT: '60',
      CHECKPOINT_DISABLE: '1',
      ...lessGarbage,
      ...environment,
    }
    onTestFinished(() => rmSync(this.#dir, { recursive: true, force: true }))
  }

  run(command: string, ...args: readonly string[]): Promise<Outcome> {
    const options = { cwd: this.dir, env: this.#environment, timeout: 150_000 }
    return new Promise((done) => {
      execFile(this.#cli, [command, ...args], options, (err, stdout, stderr) => {
        const code = err === null ? 0 : typeof err.code === 'number' ? err.code : -1
        done({ code, output: unwrapped(stdout + stderr) })
      })
    })
  }

  /** Runs init and apply, and returns the outputs. @throws Error with the CLI's output if it fails */
  async apply(): Promise<Record<string, unknown>> {
    await this.must('init')
    await this.must('apply', '-auto-approve')
    const outputs = JSON.parse((await this.must('output', '-json')).output) as Record<
      string,
      { value: unknown }
    >
    return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]))
  }

  async must(command: string, ...args: readonly string[]): Promise<Outcome> {
    const outcome = await this.run(command, ...args)
    if (outcome.code !== 0)
      throw new Error(`${command} ended with ${outcome.code}: ${outcome.output}`)
    return outcome
  }

  /** The modules that init installed: their version, and the folder that they are in. */
  modules(): Record<string, { version: string; dir: string }> {
    const path = join(this.dir, '.terraform/modules/modules.json')
    if (!existsSync(path)) return {}
    const { Modules } = JSON.parse(readFileSync(path, 'utf8')) as {
      Modules: { Key: string; Version?: string; Dir: string }[]
    }
    return Object.fromEntries(
      Modules.filter(({ Key }) => Key !== '').map(({ Key, Version = '', Dir }) => [
        Key,
        { version: Version, dir: join(this.dir, Dir) },
      ]),
    )
  }

  lockFile(): string {
    const path = join(this.dir, '.terraform.lock.hcl')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  /** The files that init installed below `.terraform`, relative to it. */
  installed(): string[] {
    const root = join(this.dir, '.terraform')
    if (!existsSync(root)) return []
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => relative(root, join(file.parentPath, file.name)))
  }
}

/** Without the frames and line breaks that the CLIs put around messages. */
const unwrapped = (text: string): string => text.replaceAll(/[\s│╷╵]+/g, ' ')
