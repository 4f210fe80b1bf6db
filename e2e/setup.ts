import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { toolPath } from '../hack/testbed/tools.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of each CLI; undefined where this machine has none and cannot build it. */
    terraform: string | undefined
    tofu: string | undefined
    schemathesis: string | undefined
    /** Identity providers. */
    keycloak: string | undefined
    dex: string | undefined
    /** The provider of hack/tools/stamp: a binary for each platform, as `os_arch`; undefined without Go. */
    stamp: Readonly<Record<string, string>> | undefined
  }
}

const onCi = !['', '0', 'false'].includes(process.env['CI'] ?? '')

/** Finds or builds, once for all test files, what they run. */
export default function setup({ provide }: TestProject): void {
  provide(
    'terraform',
    attempt('terraform', () => toolPath('terraform')),
  )
  provide(
    'tofu',
    attempt('OpenTofu', () => toolPath('tofu')),
  )
  provide(
    'schemathesis',
    attempt('Schemathesis', () => toolPath('schemathesis')),
  )
  provide(
    'keycloak',
    attempt('Keycloak', () => toolPath('keycloak')),
  )
  provide(
    'dex',
    attempt('Dex', () => toolPath('dex')),
  )
  provide('stamp', attempt('the provider of hack/tools/stamp', stampBinaries))
}

/** On a laptop a missing tool skips its tests and says so; in CI it fails the run. */
function attempt<T>(what: string, find: () => T): T | undefined {
  try {
    return find()
  } catch (err) {
    if (onCi) throw new Error(`the end-to-end tests need ${what}`, { cause: err })
    console.warn(`e2e: every test that needs ${what} is SKIPPED: it is missing here`)
    return undefined
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
