import { spawnSync } from 'node:child_process'

/** Processes in a namespace of their own end with the first of them, wherever they went. */
const unshare = ['--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--'] as const

/**
 * How a program is started in namespaces of its own, with an empty network, where this process may make them.
 *
 * @returns what comes before the command and its arguments; undefined if the system refuses
 */
export function findIsolation(): readonly [string, ...string[]] | undefined {
  const path = '/usr/bin/unshare'
  // The image has no other program that does nothing.
  const tried = spawnSync(path, [...unshare, path, '--version'], {
    stdio: 'ignore',
    timeout: 10_000,
  })
  return tried.status === 0 ? [path, ...unshare] : undefined
}

/** Proxies that nobody listens on, for programs that share the network of this process. */
export const deadProxies = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
} as const
