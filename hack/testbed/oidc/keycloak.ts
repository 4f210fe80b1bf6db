import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../ports.ts'

/** A machine that is busy with other tests takes minutes to start a server in Java. */
const startDeadlineMs = 300_000
const admin = 'admin'

export const realm = 'depot'
/** The password of every user; the forms are filled in with it. */
const password = 'anything'

/** A real Keycloak that keeps everything in memory, with one realm: `alice` is in the group `platform`. */
export class Keycloak {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `http://127.0.0.1:${port}`
  }

  /**
   * @param program as hack/tool finds it
   * @param clients as their import takes them
   */
  static async start(program: string, clients: readonly object[]): Promise<Keycloak> {
    const port = await freePort()
    const flags = `--optimized --http-enabled=true --hostname-strict=false --cache=local --http-host=127.0.0.1 --http-port=${port} --http-management-port=${await freePort()}`
    const child = spawn(program, ['start', ...flags.split(' ')], {
      env: {
        PATH: process.env['PATH'],
        ...(process.env['JAVA_HOME'] && { JAVA_HOME: process.env['JAVA_HOME'] }),
        KC_BOOTSTRAP_ADMIN_USERNAME: admin,
        KC_BOOTSTRAP_ADMIN_PASSWORD: admin,
        JAVA_OPTS_APPEND: '-XX:TieredStopAtLevel=1 -Xmx512m',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what the script starts ends with it.
      detached: true,
    })
    const keycloak = new Keycloak(child, port)
    try {
      await keycloak.#untilReady()
      await keycloak.#createRealm(clients)
    } catch (thrown) {
      await keycloak.stop()
      throw thrown
    }
    return keycloak
  }

  get issuer(): string {
    return `${this.url}/realms/${realm}`
  }

  /** A token of a client with a secret, for itself. */
  async clientToken(clientId: string, secret: string): Promise<string> {
    return this.#token(realm, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret,
    })
  }

  async stop(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const exited = once(this.#child, 'exit')
    process.kill(-pid, 'SIGKILL')
    await exited
  }

  async #untilReady(): Promise<void> {
    let output = ''
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        output = (output + bytes.toString()).slice(-10_000)
      })
    }
    const deadline = performance.now() + startDeadlineMs
    const known = `${this.url}/realms/master/.well-known/openid-configuration`
    while (!(await answers(known))) {
      if (this.#child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`Keycloak does not answer:\n${output}`)
      }
      await sleep(200)
    }
  }

  async #createRealm(clients: readonly object[]): Promise<void> {
    const token = await this.#token('master', {
      grant_type: 'password',
      client_id: 'admin-cli',
      username: admin,
      password: admin,
    })
    const response = await fetch(`${this.url}/admin/realms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        realm,
        enabled: true,
        sslRequired: 'none',
        groups: [{ name: 'platform' }],
        users: [
          {
            username: 'alice',
            enabled: true,
            email: 'alice@example.com',
            emailVerified: true,
            firstName: 'Alice',
            lastName: 'Example',
            credentials: [{ type: 'password', value: password }],
            groups: ['/platform'],
          },
        ],
        clients,
      }),
    })
    if (!response.ok) throw new Error(`Keycloak made no realm: ${await response.text()}`)
  }

  async #token(of: string, form: Record<string, string>): Promise<string> {
    const response = await fetch(`${this.url}/realms/${of}/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    const answer = (await response.json()) as { access_token?: string }
    if (answer.access_token === undefined) throw new Error(JSON.stringify(answer))
    return answer.access_token
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.ok,
    () => false,
  )
