import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of each CLI; undefined where this machine has none and cannot build it. */
    terraform: string | undefined
    tofu: string | undefined
    /** The provider of e2e/provider: a binary for each platform, as `os_arch`; undefined without Go. */
    stamp: Readonly<Record<string, string>> | undefined
  }
}

const repository = dirname(import.meta.dirname)
const onCi = !['', '0', 'false'].includes(process.env['CI'] ?? '')

/** Finds or builds, once for all test files, what they run. */
export default function setup({ provide }: TestProject): void {
  provide(
    'terraform',
    attempt('terraform', () => tool('terraform')),
  )
  provide(
    'tofu',
    attempt('OpenTofu', () => tool('tofu')),
  )
  provide('stamp', attempt('the provider of e2e/provider', buildStamp))
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

function tool(name: string): string {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  return execFileSync(join(repository, 'hack/tool'), [name], {
    encoding: 'utf8',
    stdio: [...stdio],
  }).trim()
}

function buildStamp(): Record<string, string> {
  const source = join(repository, 'e2e/provider')
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(source, file)))
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const tools = process.env['DEPOT_TOOLS_DIR'] ?? join(cache, 'depot-tools')
  const home = join(tools, `stamp-${hash.digest('hex').slice(0, 12)}`)
  mkdirSync(home, { recursive: true })
  const go = process.platform === 'win32' ? 'windows' : process.platform
  const platforms = new Set([
    'linux_amd64',
    'linux_arm64',
    `${go}_${process.arch === 'x64' ? 'amd64' : process.arch}`,
  ])
  return Object.fromEntries([...platforms].map((platform) => [platform, buildFor(platform)]))

  function buildFor(platform: string): string {
    const binary = join(home, platform)
    if (existsSync(binary)) return binary
    const [GOOS, GOARCH] = platform.split('_')
    const half = `${binary}.${process.pid}`
    const ldflags = '-s -w -X main.version=1.0.0'
    execFileSync('go', ['build', '-trimpath', '-ldflags', ldflags, '-o', half, '.'], {
      cwd: source,
      env: { ...process.env, GOOS, GOARCH, CGO_ENABLED: '0' },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    renameSync(half, binary)
    return binary
  }
}
