import { copyFileSync, existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { generateSigningKey } from '../pkg/archives/signing/signing.ts'
import { documentSamples } from './sample-docs.ts'
import { buildSamples } from './samples.ts'

const repository = dirname(import.meta.dirname)

/** Files that `make run` and `make run-cluster` keep below a folder. */
export interface Playground {
  readonly archives: string
  readonly manifests: string
  readonly signingKey: string
  readonly cliConfig: string
  readonly statsPath: string
  /** Shell lines that install from the samples, once a server serves them. */
  readonly linesToType: readonly string[]
}

/**
 * Builds missing files: the archives of the samples and their documentation, a signing key, an example that installs them, and a CLI config that
 * names the server's address.
 *
 * @param port of the server on 127.0.0.1
 */
export async function preparePlayground(dir: string, port: number): Promise<Playground> {
  const [archives, manifests] = [join(dir, 'archives'), join(dir, 'manifests')]
  const signingKey = join(dir, 'signing-key.asc')
  // Another port is another server, which may run at the same time.
  const suffix = port === 8080 ? '' : `-${port}`
  const [cliConfig, example] = [join(dir, `terraformrc${suffix}`), join(dir, `example${suffix}`)]
  mkdirSync(dir, { recursive: true })
  await createSigningKey(signingKey)
  writeExample(example)
  if ((await buildSamples(archives)) > 0) forgetInstalled(dir)
  await documentSamples(archives, manifests)
  writeCliConfig(cliConfig, port)
  const cli = ['terraform', 'tofu'].find(onPath)
  if (cli === undefined)
    console.log('\ndepot: neither terraform nor tofu is on PATH: install one of them first.')
  return {
    archives,
    manifests,
    signingKey,
    cliConfig,
    statsPath: join(dir, `stats${suffix}.db`),
    linesToType: [
      `export TF_CLI_CONFIG_FILE=${quoted(cliConfig)}`,
      `cd ${quoted(example)}`,
      `${cli ?? 'terraform'} init && ${cli ?? 'terraform'} apply -auto-approve`,
    ],
  }
}

/** The port from a variable of `make`. Ends the program if it is not a port. */
export function portOf(variable: string, text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port
  console.error(`depot: ${variable} must be 1 to 65535, not ${text}`)
  return process.exit(1)
}

export const onPath = (command: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)))

/** A path, quoted for a shell. */
export const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`

async function createSigningKey(file: string): Promise<void> {
  if (existsSync(file)) return
  const key = await generateSigningKey({ name: 'Depot samples', email: 'depot@example.com' })
  writeFileSync(file, key, { mode: 0o600 })
}

/**
 * CLIs require https from a registry, unless their configuration has the addresses of its services.
 *
 * @param pagesUrl whose usage blocks name its host; absent without pages
 */
export function writeCliConfig(file: string, port: number, pagesUrl?: string): void {
  const services = (['modules', 'providers'] as const)
    .map((kind) => `    "${kind}.v1" = "http://127.0.0.1:${port}/depot/${kind}/v1/"\n`)
    .join('')
  const hosts = ['depot.test', ...(pagesUrl === undefined ? [] : [new URL(pagesUrl).host])]
  const blocks = hosts.map((host) => `host "${host}" {\n  services = {\n${services}  }\n}\n`)
  writeFileSync(file, blocks.join(''))
}

function writeExample(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const main = join(folder, 'main.tf')
  if (!existsSync(main)) copyFileSync(join(repository, 'config/samples/example/main.tf'), main)
}

/** Removes lock files of archives that are no longer served, for any port. */
function forgetInstalled(dir: string): void {
  for (const example of globSync(join(dir, 'example*'))) {
    rmSync(join(example, '.terraform.lock.hcl'), { force: true })
    rmSync(join(example, '.terraform'), { recursive: true, force: true })
  }
}
