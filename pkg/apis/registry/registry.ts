import { z } from 'zod'

/* What the registry protocols of Terraform and OpenTofu send: written by pkg/registry, read by whatever fetches from a registry. */

/** @see https://developer.hashicorp.com/terraform/internals/login-protocol */
export const Login = z.object({
  client: z.string(),
  grant_types: z.array(z.string()).readonly(),
  authz: z.string(),
  token: z.string(),
  scopes: z.array(z.string()).readonly(),
  ports: z.tuple([z.number(), z.number()]).readonly(),
})
export type Login = z.infer<typeof Login>

/** @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery */
export const Discovery = z.object({
  'modules.v1': z.string().optional(),
  'providers.v1': z.string().optional(),
  'login.v1': Login.optional(),
})
export type Discovery = z.infer<typeof Discovery>

/** @see https://developer.hashicorp.com/terraform/internals/module-registry-protocol */
export const ModuleVersions = z.object({
  modules: z.array(
    z.object({
      /** URL of the module's source repository. */
      source: z.string().optional(),
      versions: z.array(z.object({ version: z.string() })),
    }),
  ),
})
export type ModuleVersions = z.infer<typeof ModuleVersions>

/** @see https://developer.hashicorp.com/terraform/internals/provider-registry-protocol */
export const ProviderVersions = z.object({
  versions: z.array(
    z.object({
      version: z.string(),
      protocols: z.array(z.string()).readonly().optional(),
      platforms: z.array(z.object({ os: z.string(), arch: z.string() })),
    }),
  ),
})
export type ProviderVersions = z.infer<typeof ProviderVersions>

export const SigningKeys = z.object({
  gpg_public_keys: z
    .array(z.object({ key_id: z.string(), ascii_armor: z.string() }).readonly())
    .readonly(),
})
export type SigningKeys = z.infer<typeof SigningKeys>

/** One platform of a version of a provider. */
export const ProviderPackage = z.object({
  protocols: z.array(z.string()).readonly().optional(),
  os: z.string(),
  arch: z.string(),
  filename: z.string(),
  download_url: z.string(),
  shasum: z.string(),
  shasums_url: z.string(),
  shasums_signature_url: z.string(),
  signing_keys: SigningKeys,
})
export type ProviderPackage = z.infer<typeof ProviderPackage>
