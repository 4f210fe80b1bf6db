import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'

/** Reads a ConfigMap that was written into a folder; undefined if it does not exist. */
export async function configMapIn(dir: string, namespace: string, name: string): Promise<unknown> {
  const file = join(dir, 'configmaps', namespace, `${name}.yaml`)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (parse(text) as unknown)
}
