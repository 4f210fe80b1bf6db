import { expect, it, vi } from 'vitest'
import { startShowcase } from './showcase-explorer.fixture.ts'

const processes = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'ProcessWrap').length

it('leaves no server behind if the explorer of a showcase cannot start', async () => {
  const before = processes()
  const starting = startShowcase([], [], ['--no-such-flag'])
  await vi.waitFor(() => expect(processes()).toBe(before + 1), { timeout: 30_000, interval: 5 })
  await expect(starting).rejects.toThrow(/ ui ended with 2/)
  await vi.waitFor(() => expect(processes()).toBe(before))
})
