/**
 * Publishes versions that people or CI built: packs and checks them, compares them with what is there, stores the archive,
 * and creates its Version. Each step can be repeated after a kill; a version appears with its last step, or not at all.
 */
export { publishRoutes } from './endpoint.ts'
export {
  type ComparedVersion,
  comparedWith,
  newestBefore,
  type PackedModule,
  type Publication,
  type PublishContext,
  packModule,
  planPublication,
} from './plan.ts'
export { planProvider, publishProvider } from './provider.ts'
export { publish } from './publish.ts'
export * from './release.ts'
export {
  addressText,
  claimsOf,
  type PublishAddress,
  parseModuleAddress,
  parseProviderAddress,
  publishedVersion,
} from './target.ts'
