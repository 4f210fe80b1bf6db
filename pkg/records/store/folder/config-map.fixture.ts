import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

/** Reads a ConfigMap from its own file of a folder, or from that of a Version; undefined if it does not exist. */
export async function configMapIn(dir: string, namespace: string, name: string): Promise<unknown> {
  for (const folder of ['configmaps', 'versions']) {
    const files = await readdir(join(dir, folder, namespace)).catch(() => [])
    for (const file of files.filter((one) => !one.startsWith('.'))) {
      const text = await readFile(join(dir, folder, namespace, file), 'utf8')
      const all = parseAllDocuments(text).map((document) => document.toJS() as ConfigMap)
      const found = all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)
      if (found !== undefined) return found
    }
  }
  return undefined
}

interface ConfigMap {
  readonly kind: string
  readonly metadata: { readonly name: string }
}
