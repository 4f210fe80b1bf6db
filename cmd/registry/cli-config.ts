import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCliConfig } from '../../pkg/archives/docs/docs.ts'
import { codeOf, messageOf } from '../../pkg/base/errors/errors.ts'

/** Registries as Terraform and OpenTofu of this machine know them. */
export interface CliConfig {
  /** URLs from a `host` block, which replace the discovery of a host. */
  readonly servicesOf: (host: string) => Readonly<Record<string, string>> | undefined
  readonly tokenFor: (host: string) => string | undefined
}

type Env = Readonly<Record<string, string | undefined>>

const prefix = 'TF_TOKEN_'
const logins = 'credentials.tfrc.json'

/**
 * Reads tokens from `TF_TOKEN_registry_example_com`, and blocks `host` and `credentials` from the file that TF_CLI_CONFIG_FILE
 * names, or from `~/.terraformrc`, `~/.tofurc` and `~/.terraform.d/*.tfrc`, and from the file that `terraform login` writes.
 * As for the CLIs, the last file that names a host wins. A file that cannot be read is reported and has no effect, because the
 * CLIs accept an older syntax, too.
 *
 * @param report gets a line for each such file, without its content
 * @see https://developer.hashicorp.com/terraform/cli/config/config-file
 */
export async function readCliConfig(
  env: Env,
  home: string,
  report: (problem: string) => void,
): Promise<CliConfig> {
  const read = async (file: string) => {
    try {
      return [await parseCliConfig(file, await readFile(file, 'utf8'))]
    } catch (error) {
      if (codeOf(error) !== 'ENOENT')
        report(`${file}: ${messageOf(error)}; its hosts and credentials are not used`)
      return []
    }
  }
  const files = await configFiles(env, home)
  const configs = (await Promise.all(files.map(read))).flat()
  const last = <T>(found: (config: (typeof configs)[number]) => T | undefined): T | undefined =>
    configs.map(found).findLast((one) => one !== undefined)
  return {
    servicesOf: (host) => last(({ services }) => services.get(host.toLowerCase())),
    tokenFor(host) {
      const wanted = host.toLowerCase()
      const variable = Object.keys(env).find((name) => hostOf(name) === wanted)
      return (variable && env[variable]?.trim()) || last(({ tokens }) => tokens.get(wanted))
    },
  }
}

async function configFiles(env: Env, home: string): Promise<string[]> {
  const dir = join(home, '.terraform.d')
  const named = env['TF_CLI_CONFIG_FILE']
  if (named) return [join(dir, logins), named]
  const names = await readdir(dir).catch(() => [])
  const others = names.filter((name) => /\.tfrc(\.json)?$/.test(name)).toSorted()
  return [
    ...['.terraformrc', '.tofurc'].map((name) => join(home, name)),
    ...others.map((name) => join(dir, name)),
  ]
}

/** Decodes the host of a variable: two underscores are a hyphen, one is a dot. */
const hostOf = (variable: string): string | undefined =>
  variable.startsWith(prefix)
    ? variable.slice(prefix.length).replaceAll('__', '-').replaceAll('_', '.').toLowerCase()
    : undefined
