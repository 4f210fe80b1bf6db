/**
 * Publishes versions that people or CI built: packs and checks them, compares them with what is there, stores the archive,
 * and creates its Version. Each step can be repeated after a kill; a version appears with its last step, or not at all.
 */
export { publishRoutes } from './endpoint.ts'
export { type Publication, type PublishContext, planPublication, requireNoSecrets } from './plan.ts'
export { type ProviderPublication, planProvider, publishProvider } from './provider.ts'
export { publish } from './publish.ts'
export {
  claimsOf,
  type PublishAddress,
  parseModuleAddress,
  parseProviderAddress,
} from './target.ts'
