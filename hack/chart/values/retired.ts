import { retired, type Value } from '../value.ts'

/** Accepted by the schema, so that rendering can name the replacement, or say that there is none. */
export const retiredValues: readonly Value[] = [
  'dex',
  'version',
  'module',
  'depot',
  'provider',
  'server.zapLogLevel',
  'ui.zapLogLevel',
  'controller.zapLogLevel',
  'valkey.persistence',
  'server.metrics',
  'server.stats.prometheusURL',
  'server.stats.emptyDir',
  'server.stats.persistence.accessMode',
  'server.oidc.dexProxy',
  'monitoring.enabled',
  'monitoring.bundled',
  'ui.nginx',
  'ui.service.targetPort',
  'ui.serverCACertPath',
  'global.developmentMode',
  'agent',
  'assembly',
  'scanning.dbUpdater.image',
  'scanning.scanModules',
].map(retired)
