/** Reads registries for commands, with the hosts and tokens of Terraform and OpenTofu. */

export { Claims, openBrowseApi } from './browse-api.ts'
export { type Consumer, consumersIn, usersOf, usersText, type VersionUsers } from './consumers.ts'
export {
  type GivenToken,
  localDocs,
  loginRemedy,
  openRegistry,
  type Registry,
  type RegistryVersion,
  refusalOf,
  registryAddress,
  registryModule,
  tokenInFile,
} from './open-registry.ts'
