import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished } from 'vitest'
import { freePorts } from '../hack/testbed/ports.ts'

/**
 * Runs a typed line that starts a server, with free ports. The server ends with the test.
 *
 * @returns its URL, once it is ready
 */
export async function typeServer(
  line: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const [port = 0] = await freePorts(1)
  const flags = `--listen 127.0.0.1:${port} --admin-listen 127.0.0.1:0`
  const server = spawn('sh', ['-c', `exec ${line.trim()} ${flags}`], { cwd, env })
  onTestFinished(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
  })
  let log = ''
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  await expect.poll(() => log, { timeout: 60_000 }).toContain('"msg":"ready"')
  return `http://127.0.0.1:${port}`
}
