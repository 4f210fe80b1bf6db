import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Path of etcd or kube-apiserver: from `KUBEBUILDER_ASSETS`, else as hack/tool finds or builds it, which takes minutes the
 * first time.
 */
export function toolPath(name: 'etcd' | 'kube-apiserver'): string {
  const assets = process.env['KUBEBUILDER_ASSETS']
  const asset = join(assets ?? '', name)
  if (assets !== undefined && existsSync(asset)) return asset
  const tool = join(import.meta.dirname, '../../tool')
  return execFileSync(tool, [name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}
