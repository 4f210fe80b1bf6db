import { expect, it } from 'vitest'
import { serverCommand } from '../pkg/base/options/options.ts'
import { optionsReference } from './options-reference.ts'

it('has a line of the reference for every flag and secret', () => {
  const reference = optionsReference(serverCommand)
  for (const { flag } of Object.values(serverCommand.options)) {
    expect(reference).toMatch(new RegExp(`^\\| \`--${flag}[ \`].*DEPOT_`, 'm'))
  }
  expect(reference).toContain('| `DEPOT_VALKEY_PASSWORD` | `DEPOT_VALKEY_PASSWORD_FILE` |')
  expect(reference).toContain('| `DEPOT_GCS_ENDPOINT` |')
})
