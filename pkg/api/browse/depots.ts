import * as z from 'zod'
import { optionalFlag, optionalText, text } from '../schema/schema.ts'
import { backend, component, managed, moment, name, polling, ScanCounts, tally } from './parts.ts'

export const DepotList = component('DepotList', {
  items: z.array(
    z.strictObject({
      namespace: name,
      name,
      modules: managed,
      providers: managed,
      pollingIntervalMinutes: polling,
      storageBackend: backend.optional().describe('Absent if the Depot names none.'),
    }),
  ),
})
export type DepotList = z.infer<typeof DepotList>

const removalHeld = optionalFlag(
  'True while a person has to confirm that versions are removed; otherwise absent.',
)

export const DepotGraph = component('DepotGraph', {
  depots: z.array(
    z.strictObject({
      id: text('`namespace/name`.'),
      namespace: name,
      name,
      storageBackend: backend.optional(),
      pollingIntervalMinutes: polling,
      managedModuleNames: managed,
      managedProviderNames: managed,
      ready: optionalFlag('Its condition Ready; absent while that is unknown.'),
      reason: optionalText('Reason of the condition, if it is false.'),
    }),
  ),
  modules: z.array(
    z.strictObject({
      id: text('`namespace/module/name`.'),
      namespace: name,
      name,
      provider: z.string().optional(),
      synced: z.boolean(),
      latestVersion: z.string().optional(),
      scanCounts: ScanCounts.optional(),
      removalHeld,
      depotID: text('The first of the Depots that manage it.'),
    }),
  ),
  providers: z.array(
    z.strictObject({
      id: text('`namespace/provider/name`.'),
      namespace: name,
      name,
      synced: z.boolean(),
      removalHeld,
    }),
  ),
  edges: z.array(z.strictObject({ id: z.string(), source: z.string(), target: z.string() })),
  summary: z.strictObject({ totalDepots: tally, totalModules: tally, totalProviders: tally }),
  generatedAt: moment.describe('When this state was first seen, RFC 3339.'),
})
