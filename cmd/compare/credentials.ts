import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { codeOf, messageOf } from '../../pkg/base/errors/errors.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'
import { readTextFile } from '../../pkg/base/run/run.ts'

const prefix = 'TF_TOKEN_'
const Credentials = z.object({
  credentials: z.record(z.string(), z.object({ token: z.string().optional() })).optional(),
})

/**
 * Finds the token for a registry where Terraform and OpenTofu find it: in `TF_TOKEN_registry_example_com`, or in the file that
 * `terraform login` and `tofu login` write.
 *
 * @see https://developer.hashicorp.com/terraform/cli/config/config-file#environment-variable-credentials
 * @throws OptionsError if the file is not valid
 */
export function tokenFor(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string | undefined {
  const wanted = host.toLowerCase()
  const variable = Object.keys(env).find((name) => hostOf(name) === wanted)
  const named = variable && env[variable]?.trim()
  if (named) return named
  const file = join(home, '.terraform.d', 'credentials.tfrc.json')
  const { credentials = {} } = credentialsIn(file, host)
  return Object.entries(credentials).find(([name]) => name.toLowerCase() === wanted)?.[1].token
}

/** The token of `--token-file`. @throws OptionsError if the file cannot be read or is empty */
export async function tokenInFile(file: string): Promise<string> {
  const text = await readTextFile(file).catch((error: unknown) => {
    throw new OptionsError([`--token-file: ${messageOf(error)}`])
  })
  if (text.trim() !== '') return text.trim()
  throw new OptionsError([`--token-file: ${file} is empty: write the token into it`])
}

/** Errors of the parser would quote the file, which holds tokens. */
function credentialsIn(file: string, host: string): z.infer<typeof Credentials> {
  try {
    return Credentials.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    const isParser = error instanceof SyntaxError || error instanceof z.ZodError
    const problem = isParser ? 'it does not hold credentials as JSON' : messageOf(error)
    const remedy = `correct it, or run terraform login ${host}`
    throw new OptionsError([`${file} cannot be read: ${problem}; ${remedy}`])
  }
}

/** The host of a variable: two underscores are a hyphen, one is a dot. */
const hostOf = (variable: string): string | undefined =>
  variable.startsWith(prefix)
    ? variable.slice(prefix.length).replaceAll('__', '-').replaceAll('_', '.').toLowerCase()
    : undefined
