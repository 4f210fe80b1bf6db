import { retired, type Value } from '../value.ts'

/** Accepted by the schema, so that rendering can name the replacement. */
export const retiredValues: readonly Value[] = [
  'dex',
  'version',
  'module',
  'depot',
  'provider',
  'server.zapLogLevel',
  'ui.zapLogLevel',
  'controller.zapLogLevel',
].map(retired)
