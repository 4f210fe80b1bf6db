// Saves the records of a registry with their status, and brings them back.
//
//   node hack/backup.ts > backup.yaml
//   node hack/backup.ts restore backup.yaml --dry-run

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadConnection } from '../pkg/records/kube/kube.ts'
import { createApi } from './backup/api.ts'
import { restore } from './backup/restore.ts'
import { save } from './backup/save.ts'

const usage = `usage: node hack/backup.ts [--output FILE] [--namespace NS]...
       node hack/backup.ts restore FILE|- [--dry-run] [--map-group OLD=NEW]
both:  [--kubeconfig FILE] [--api-group GROUP]
`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kubeconfig: { type: 'string' },
      'api-group': { type: 'string', default: 'depot.internal' },
      namespace: { type: 'string', multiple: true, default: [] },
      output: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      'map-group': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const [command, file, ...more] = positionals
  const isRestore = command === 'restore' && file !== undefined
  if (values.help || more.length > 0 || (command !== undefined && !isRestore)) {
    ;(values.help ? process.stdout : process.stderr).write(usage)
    return values.help ? 0 : 2
  }
  const [old, mapped] = values['map-group']?.split('=') ?? []
  if (values['map-group'] !== undefined && (!old || !mapped)) {
    throw new Error(`--map-group ${values['map-group']} is not a pair: write OLD=NEW`)
  }
  const apiGroup = mapped ?? values['api-group']
  const api = createApi(loadConnection({ kubeconfig: values.kubeconfig, env: process.env }))
  try {
    if (!isRestore) {
      write(
        await save({ api, apiGroup, namespaces: values.namespace, now: new Date() }),
        values.output,
      )
      return 0
    }
    const text = readFileSync(file === '-' ? 0 : file, 'utf8')
    const dryRun = values['dry-run']
    const { objects, statuses, unchecked, failures } = await restore({
      api,
      text,
      apiGroup,
      mapGroup: old,
      dryRun,
    })
    for (const failure of failures) process.stderr.write(`${failure}\n`)
    process.stdout.write(
      dryRun
        ? `${objects} objects would be restored, ${unchecked} of them into namespaces that are not there yet\n`
        : `${objects} objects restored, ${statuses} with their status\n`,
    )
    if (failures.length > 0) process.stderr.write(`${failures.length} failed\n`)
    return failures.length > 0 ? 1 : 0
  } finally {
    await api.close()
  }
}

/** Writes the file completely or not at all. */
function write(text: string, file: string | undefined): void {
  if (file === undefined) {
    process.stdout.write(text)
    return
  }
  writeFileSync(`${file}.part`, text, { mode: 0o600 })
  renameSync(`${file}.part`, file)
}

try {
  process.exitCode = await main()
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
  process.exitCode = 2
}
