import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../testbed/ports.ts'

/** A server that gives the files of a folder. */
export interface Anchor {
  readonly port: number
  stop(): void
}

/** nginx with one worker and sendfile, without a log. */
export async function startNginx(root: string): Promise<Anchor> {
  const dir = mkdtempSync(join(tmpdir(), 'depot-nginx-'))
  const port = await freePort()
  const config = join(dir, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${dir}/pid; error_log stderr crit;
    user root;
    events { worker_connections 1024; }
    http {
      access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
      client_body_temp_path ${dir}/b; proxy_temp_path ${dir}/p; fastcgi_temp_path ${dir}/f;
      uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
      server { listen 127.0.0.1:${port}; root ${root}; }
    }`,
  )
  const child = spawn('nginx', ['-c', config], { stdio: ['ignore', 'ignore', 'inherit'] })
  await untilListening(port, child)
  return {
    port,
    stop() {
      child.kill('SIGQUIT')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A bare server of node:http that pipes files, with or without hashing them. */
export async function startBarePipe(root: string, hashing: boolean): Promise<Anchor> {
  const child = fork(join(import.meta.dirname, 'bare-pipe.ts'), [root, String(hashing)])
  const [port] = (await once(child, 'message')) as [number]
  return { port, stop: () => child.kill() }
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    if (answered !== undefined) return
    if (child.exitCode !== null) throw new Error('nginx did not start')
    await sleep(50)
  }
}
