import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import type { Upstreams } from '../../hack/testbed/upstream/upstreams.ts'
import { environmentOf, folderOfProgram } from '../documentation.fixture.ts'

/** A Depot with one module of GitHub. */
export const depot = (constraints: string, name = 'main') => `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: { name: ${name}, namespace: team }
spec:
  global:
    storageConfig:
      fileSystem: { directoryPath: team }
  moduleConfigs:
    - name: ${name === 'main' ? 'vpc' : name}
      provider: aws
      repoUrl: https://github.com/acme/vpc
      versionConstraints: '${constraints}'
`

/** A folder in which somebody runs `depot plan`. */
export class PlanFolder implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'depot-plan-e2e-'))
  readonly #bin = folderOfProgram()
  readonly #environment: Record<string, string | undefined>

  /** Gives the upstream the tags that the Depot finds. */
  constructor({ github, flags }: Pick<Upstreams, 'github' | 'flags'>) {
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
      const files = { 'main.tf': `# ${version}\n`, 'README.md': '# vpc\n' }
      github.tag('acme/vpc', `v${version}`, files)
    }
    this.#environment = {
      ...bareEnvironment,
      PATH: `${this.#bin}:${process.env['PATH'] ?? ''}`,
      TMPDIR: this.dir,
      ...environmentOf(flags),
    }
  }

  async run(program: string, ...args: readonly string[]) {
    const child = spawn(program, args, {
      cwd: this.dir,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = once(child, 'exit') as Promise<[number | null]>
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await exited
    return { status, stdout, stderr }
  }

  [Symbol.dispose](): void {
    for (const folder of [this.#bin, this.dir]) rmSync(folder, { recursive: true })
  }
}
