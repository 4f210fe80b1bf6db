import type { FolderDocs } from '../../api/docs/docs.ts'

type Provider = FolderDocs['providers'][number]
type ModuleCall = FolderDocs['modules'][number]

/** Formats `hashicorp/aws ~> 5.0`, with the configurations that the caller passes. */
export const providerText = ({ name, source = name, version, aliases }: Provider): string =>
  [source, version ?? [], aliases.length > 0 ? `(${aliases.join(', ')})` : []].flat().join(' ')

/** Formats `terraform-aws-modules/vpc/aws ~> 5.0`. */
export const moduleText = ({ source, version }: ModuleCall): string =>
  [source ?? 'no source', version ?? []].flat().join(' ')
