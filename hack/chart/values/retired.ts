import { retired, type Value } from '../value.ts'

/** Let through by the schema, so that the render can say what took their place. */
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
