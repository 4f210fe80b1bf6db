import { spawn } from 'node:child_process'
import { messageOf } from '../../../pkg/base/errors/errors.ts'

export interface TerraformLogin {
  readonly terraform: string | undefined
  readonly host: string
  /** The folder for the token. */
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
  /** The start of the login address. Default: that of a broker behind the registry's name. */
  readonly authorization?: string
  /** Acts as a person in a browser. Resolves to the final address. */
  readonly browse: (url: string) => Promise<string>
}

/** Runs `terraform login`, answers yes, and logs in at the address that it prints. */
export async function terraformLogin(
  options: TerraformLogin,
): Promise<{ code: number | null; output: string }> {
  const { terraform, host, home, environment, browse } = options
  const { authorization = `https://${host}/broker/auth` } = options
  const child = spawn(terraform ?? '', ['login', '-no-color', host], {
    env: { PATH: '/nonexistent', HOME: home, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  let sent = false
  const note = (error: unknown): void => {
    output += `\n${messageOf(error)}\n`
  }
  const finish = async (url: string): Promise<void> => {
    const back = await browse(url)
    output += `\nled to ${back.slice(0, 300)}\n`
    if (!back.startsWith('http://localhost:')) child.kill()
    // Terraform may close the connection before its answer is out.
    else await fetch(back).catch(note)
  }
  const heard = (chunk: Buffer): void => {
    output += String(chunk)
    const start = output.indexOf(`${authorization}?`)
    const url = start < 0 ? undefined : /^\S+(?=\s)/.exec(output.slice(start))?.[0]
    if (url === undefined || sent) return
    sent = true
    finish(url).catch((error: unknown) => {
      note(error)
      child.kill()
    })
  }
  child.stdout.on('data', heard)
  child.stderr.on('data', heard)
  child.stdin.write('yes\n')
  const code = await new Promise<number | null>((done) => child.once('exit', done))
  return { code, output }
}
