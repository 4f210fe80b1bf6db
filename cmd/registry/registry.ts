/** Reads registries for commands, with the hosts and tokens of Terraform and OpenTofu. */

export * from './browse-api.ts'
export * from './consumers.ts'
export * from './open-registry.ts'
