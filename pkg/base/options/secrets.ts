import { readFileSync } from 'node:fs'
import { messageOf } from '../errors/errors.ts'
import type { SecretTable } from './table.ts'

/** Reads each secret from its variable or from the file that `{variable}_FILE` names; one line end is dropped there. */
export function readSecrets(
  table: SecretTable,
  env: Readonly<Record<string, string | undefined>>,
): { values: Record<string, string | undefined>; problems: string[] } {
  const values: Record<string, string | undefined> = {}
  const problems: string[] = []
  for (const [key, { variable }] of Object.entries(table)) {
    const fileVariable = `${variable}_FILE`
    const file = env[fileVariable]
    values[key] = env[variable] || undefined
    if (!file) continue
    if (env[variable]) {
      problems.push(`${variable} and ${fileVariable} are both set: keep one of them`)
      continue
    }
    try {
      values[key] = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
      if (values[key] === '') problems.push(`${fileVariable}: ${file} is empty`)
    } catch (thrown) {
      const hint = 'name a file that this user may read'
      problems.push(`${fileVariable} cannot be read: ${messageOf(thrown)}; ${hint}`)
    }
  }
  return { values, problems }
}
