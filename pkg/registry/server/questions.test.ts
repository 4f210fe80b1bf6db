import { expect, it } from 'vitest'
import { createQuestions } from '../browse/browse.ts'
import { McpFixture } from './mcp.fixture.ts'

const moduleConfig = {
  provider: 'aws',
  storageConfig: { fileSystem: { directoryPath: 'modules' } },
}
const path = { namespace: 'platform', kind: 'module', name: 'vpc' }

it('keeps the last answer of a caller until the module changes', async () => {
  using fixture = new McpFixture()
  fixture.module('vpc')
  fixture.documented('vpc', '1.0.0', { description: 'First.' })
  const { catalog, archives } = fixture
  const { docs } = createQuestions({ catalog, archives })
  const { all, public: strangers } = catalog.model.views
  const first = await docs(all, path, {})
  expect(await docs(all, path, {})).toBe(first)
  await expect(docs(strangers, path, {})).rejects.toThrow('not found')
  expect(await docs(all, path, { version: '1.0.0' })).not.toBe(first)
  fixture.documented('vpc', '1.1.0', { description: 'Second.' })
  expect((await docs(all, path, {})).root.description).toBe('Second.')
})

it('does not answer from memory for a module that is no longer public', async () => {
  using fixture = new McpFixture()
  fixture.module('vpc')
  fixture.documented('vpc', '1.0.0', {})
  const { catalog, archives } = fixture
  const { docs } = createQuestions({ catalog, archives })
  const { public: strangers } = catalog.model.views
  const label = (labels: object) =>
    fixture.add('Module', 'vpc', { spec: { moduleConfig } }, { labels })
  const labels = { 'depot.internal/public': 'true' }
  fixture.add('Namespace', 'platform', {}, { namespace: '', labels })
  label(labels)
  expect(await docs(strangers, path, {})).toHaveProperty('version', '1.0.0')
  label({})
  await expect(docs(strangers, path, {})).rejects.toThrow('not found')
})
