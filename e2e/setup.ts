import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { bundleProgram } from '../hack/image/bundle.ts'
import { builtProgram } from '../hack/testbed/program/command.ts'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'

const repository = dirname(import.meta.dirname)

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of each CLI; undefined if this machine has none. */
    terraform: string | undefined
    tofu: string | undefined
    schemathesis: string | undefined
    /** Identity providers. */
    keycloak: string | undefined
    dex: string | undefined
    /** The provider of hack/tools/stamp: a binary for each platform, as `os_arch`; undefined without Go. */
    stamp: Readonly<Record<string, string>> | undefined
    /** Path of the program of the image. */
    program: string
    /** Path of the bundle of sync/stepwise.fixture.ts. */
    stepwise: string
  }
}

/** Finds, downloads or builds the programs that the tests run, once for all of them. */
export default async function setup({ provide }: TestProject): Promise<void> {
  for (const name of ['terraform', 'tofu', 'schemathesis', 'keycloak', 'dex'] as const) {
    provide(
      name,
      findForTests(name, () => toolPath(name)),
    )
  }
  // Built for the nodes of hack/kind. A test of the chart also runs it.
  findForTests('envoy', () => toolPath('envoy'))
  provide('stamp', findForTests('the provider of hack/tools/stamp', stampBinaries))
  const programs = join(repository, '.depot/program')
  await buildPrograms(programs, { stepwise: join(repository, 'e2e/sync/stepwise.fixture.ts') })
  provide('program', join(programs, 'depot.mjs'))
  process.env[builtProgram] ??= join(programs, 'depot.mjs')
  provide('stepwise', join(programs, 'stepwise.mjs'))
}

/** Builds the program of the image and the programs of tests, and replaces those of an earlier run. */
async function buildPrograms(
  folder: string,
  others: Readonly<Record<string, string>>,
): Promise<void> {
  const { outputs } = await bundleProgram(folder, others)
  const built = new Set(Object.keys(outputs).map((file) => join(repository, file)))
  const chunks = join(folder, 'chunks')
  for (const chunk of readdirSync(chunks).map((name) => join(chunks, name))) {
    if (!built.has(chunk)) rmSync(chunk)
  }
}

/** The files of hack/tools/stamp, by platform. */
function stampBinaries(): Record<string, string> {
  const program = toolPath('stamp')
  const platforms = execFileSync(program, { encoding: 'utf8' }).trim().split('\n')
  return Object.fromEntries(
    platforms.map((platform) => [platform, join(dirname(program), platform)]),
  )
}
