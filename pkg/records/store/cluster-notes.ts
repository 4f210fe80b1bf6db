import { hash } from 'node:crypto'
import { hasReason, ifFound } from '../../base/errors/errors.ts'
import type { KubeClient } from '../kube/kube.ts'
import type { SharedNotes } from './types.ts'
import { record } from './whole-object.ts'

/** etcd stores about a megabyte for an object, so notes are spread over this many. */
const maps = 16

/** Notes in ConfigMaps of one namespace. */
export function clusterNotes(
  client: KubeClient,
  { namespace, name: prefix }: { readonly namespace: string; readonly name: string },
): SharedNotes {
  const nameOf = (part: number) => `${prefix}-${part}`
  const mapOf = (key: string) => {
    const name = nameOf(Number.parseInt(hash('sha256', key).slice(0, 4), 16) % maps)
    return { kind: 'ConfigMap', namespace, name } as const
  }
  const write = async (key: string, text: string | null) => {
    const ref = mapOf(key)
    const patch = () => client.patch(ref, { data: { [key]: text } })
    if ((await ifFound(patch())) !== undefined || text === null) return
    const { kind, name } = ref
    await client
      .create({ kind, metadata: { namespace, name }, data: { [key]: text } })
      .catch((failure: unknown) => {
        if (!hasReason(failure, 'AlreadyExists')) throw failure
        return patch()
      })
  }
  return {
    async all() {
      const notes = new Map<string, string>()
      for (let part = 0; part < maps; part += 1) {
        const ref = { kind: 'ConfigMap', namespace, name: nameOf(part) } as const
        const found = await ifFound(client.get(ref))
        for (const [key, text] of Object.entries(record(record(found)['data']))) {
          notes.set(key, String(text))
        }
      }
      return notes
    },
    async get(key) {
      const text = record(record(await ifFound(client.get(mapOf(key))))['data'])[key]
      return typeof text === 'string' ? text : undefined
    },
    put: (key, text) => write(key, text),
    drop: (key) => write(key, null),
  }
}
