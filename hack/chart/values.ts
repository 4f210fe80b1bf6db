import type { Value } from './value.ts'
import { backupValues } from './values/backup.ts'
import { brokerValues } from './values/broker.ts'
import { controllerValues } from './values/controller.ts'
import { globalValues } from './values/global.ts'
import { monitoringValues } from './values/monitoring.ts'
import { networkPolicyValues } from './values/network.ts'
import { retiredValues } from './values/retired.ts'
import { scanningValues } from './values/scanning.ts'
import { serverValues } from './values/server.ts'
import { storageValues } from './values/storage.ts'
import { uiValues } from './values/ui.ts'
import { valkeyValues } from './values/valkey.ts'

export interface Section {
  readonly title: string
  readonly values: readonly Value[]
}

/** Every value of the chart. values.yaml, the schema and the README are generated from this table. */
export const sections: readonly Section[] = [
  { title: 'Everything', values: globalValues },
  { title: 'Server', values: serverValues },
  { title: 'Explorer', values: uiValues },
  { title: 'Controller', values: controllerValues },
  { title: 'Storage', values: storageValues },
  { title: 'Broker', values: brokerValues },
  { title: 'Valkey', values: valkeyValues },
  { title: 'Backup', values: backupValues },
  { title: 'Scanning', values: scanningValues },
  { title: 'Network policies', values: networkPolicyValues },
  { title: 'Monitoring', values: monitoringValues },
  { title: 'Names of older charts', values: retiredValues },
]

export const values: readonly Value[] = sections.flatMap((section) => section.values)
