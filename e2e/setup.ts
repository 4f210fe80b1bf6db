import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
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
  const programs = await buildPrograms({
    stepwise: join(repository, 'e2e/sync/stepwise.fixture.ts'),
  })
  provide('program', join(programs, 'depot.mjs'))
  process.env[builtProgram] ??= join(programs, 'depot.mjs')
  provide('stepwise', join(programs, 'stepwise.mjs'))
}

const dayMs = 86_400_000

/**
 * Builds the program of the image and the programs of tests. Their folder is named by what they are, because another suite of
 * this checkout may run those of other sources; nobody changes it once it has its name.
 */
async function buildPrograms(others: Readonly<Record<string, string>>): Promise<string> {
  const all = join(repository, '.depot/programs')
  mkdirSync(all, { recursive: true })
  const building = mkdtempSync(join(all, 'building-'))
  await bundleProgram(building, others)
  const digest = createHash('sha256')
  for (const file of globSync('{.,chunks}/*.mjs', { cwd: building }).toSorted()) {
    digest.update(`${file}\0`).update(readFileSync(join(building, file)))
  }
  const folder = join(all, digest.digest('hex').slice(0, 16))
  try {
    renameSync(building, folder)
  } catch (error) {
    // They are there already.
    if (!existsSync(folder)) throw error
    rmSync(building, { recursive: true })
  }
  const now = Date.now()
  utimesSync(folder, now / 1000, now / 1000)
  for (const old of readdirSync(all).map((name) => join(all, name))) {
    const { mtimeMs = now } = statSync(old, { throwIfNoEntry: false }) ?? {}
    if (now - mtimeMs > dayMs) rmSync(old, { recursive: true, force: true })
  }
  return folder
}

/** The files of hack/tools/stamp, by platform. */
function stampBinaries(): Record<string, string> {
  const program = toolPath('stamp')
  const platforms = execFileSync(program, { encoding: 'utf8' }).trim().split('\n')
  return Object.fromEntries(
    platforms.map((platform) => [platform, join(dirname(program), platform)]),
  )
}
