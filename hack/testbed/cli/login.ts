import { spawn } from 'node:child_process'

export interface TerraformLogin {
  readonly terraform: string | undefined
  readonly host: string
  /** Where the token is to be kept. */
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
  /** Does what a person does in a browser. Resolves to where that leads. */
  readonly browse: (url: string) => Promise<string>
}

/** Runs `terraform login`, says yes, and logs in as a person does where it says. */
export async function terraformLogin(
  options: TerraformLogin,
): Promise<{ code: number | null; output: string }> {
  const { terraform, host, home, environment, browse } = options
  const child = spawn(terraform ?? '', ['login', '-no-color', host], {
    env: { PATH: '/nonexistent', HOME: home, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  let sent = false
  const finish = async (url: string): Promise<void> => {
    const back = await browse(url)
    output += `\nled to ${back.slice(0, 300)}\n`
    if (back.startsWith('http://localhost:')) await fetch(back)
    else child.kill()
  }
  const heard = (chunk: Buffer): void => {
    output += String(chunk)
    const url = new RegExp(`https://${host}/broker/auth\\S+`).exec(output)?.[0]
    if (url === undefined || sent) return
    sent = true
    void finish(url)
  }
  child.stdout.on('data', heard)
  child.stderr.on('data', heard)
  child.stdin.write('yes\n')
  const code = await new Promise<number | null>((done) => child.once('exit', done))
  return { code, output }
}
