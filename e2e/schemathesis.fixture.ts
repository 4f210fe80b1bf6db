import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const version = '4.32.5'

/**
 * Path of Schemathesis, which asks a server whatever its OpenAPI document allows, and more. Installed with Python's pip
 * once per machine, beside the other tools.
 *
 * @returns undefined where this machine has no Python; in CI that is an error
 */
export function schemathesis(): string | undefined {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const tools = process.env['DEPOT_TOOLS_DIR'] ?? join(cache, 'depot-tools')
  const home = join(tools, `schemathesis-${version}`)
  const program = join(home, 'bin/python')
  if (existsSync(program)) return program
  try {
    const half = `${home}.${process.pid}`
    mkdirSync(tools, { recursive: true })
    execFileSync('python3', ['-m', 'venv', half], { stdio: 'inherit' })
    const pip = ['-m', 'pip', 'install', '--quiet', `schemathesis==${version}`]
    execFileSync(join(half, 'bin/python'), pip, { stdio: 'inherit', timeout: 170_000 })
    rmSync(home, { recursive: true, force: true })
    renameSync(half, home)
    return program
  } catch (err) {
    if (!['', '0', 'false'].includes(process.env['CI'] ?? '')) throw err
    console.warn('e2e: what needs Schemathesis is SKIPPED: it cannot be installed here')
    return undefined
  }
}
