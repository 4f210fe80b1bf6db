import { parseArgs } from 'node:util'
import { parseResource } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { createArchives } from '../../pkg/archives/storage/storage.ts'
import { giveMemoryBack } from '../../pkg/base/fast/fast.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { GroupBindings } from '../../pkg/registry/access/access.ts'
import { Auth } from '../../pkg/registry/auth/auth.ts'
import { oidcOptions } from '../../pkg/registry/auth/issuer.fixture.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { startServer } from '../../pkg/registry/server/server.ts'
import { benchObjects } from './registry.ts'

/* A server of a small registry in OIDC mode, with as many GroupBindings as asked for. It bounds its heap as `depot server` does. */

const { values } = parseArgs({
  options: { issuer: { type: 'string' }, bindings: { type: 'string' } },
})

const log = createLogger('info')
const metrics = createMetrics({ version: 'bench' })
const catalog = new Catalog()
const bindings = new GroupBindings({ namespace: 'depot-system', log, metrics })
for (const object of benchObjects({
  versions: 1050,
  findingsPerVersion: 0,
  distinctFindings: 1,
})) {
  const parsed = parseResource(object.kind, object)
  if (parsed.ok) catalog.apply({ type: 'upsert', resource: parsed.resource })
}
for (let index = 0; index < Number(values.bindings); index++) {
  const parsed = parseResource('GroupBinding', {
    metadata: { name: `team-${index}`, namespace: 'depot-system' },
    spec: {
      expression: `"team-${index}" in groups`,
      moduleResources: ['small', 'large', `own-${index}-*`],
      providerResources: ['*'],
    },
  })
  if (parsed.ok) bindings.apply({ type: 'upsert', resource: parsed.resource })
}
const { model } = catalog
const auth = new Auth({
  mode: 'oidc',
  oidc: oidcOptions(values.issuer ?? ''),
  bindings,
  isPublic: (kind, namespace, name) =>
    model.find(model.views.public, kind, namespace, name) !== undefined,
  log,
  metrics,
})
await auth.started
giveMemoryBack()
const { url } = await startServer({
  listen: { host: '127.0.0.1', port: 0 },
  adminListen: { host: '127.0.0.1', port: 0 },
  catalog,
  archives: createArchives({ filesystemMountPath: '/', log, metrics }),
  auth,
  log,
  metrics,
  waitingFor: () => [],
})
process.send?.(Number(new URL(url).port))
process.on('disconnect', () => process.exit())
