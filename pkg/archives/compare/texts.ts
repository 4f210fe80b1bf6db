import type { FolderDocs, InterfaceChange } from '../../api/docs/docs.ts'

type Provider = FolderDocs['providers'][number]
type ModuleCall = FolderDocs['modules'][number]

/** `hashicorp/aws ~> 5.0`, with the configurations that the caller passes. */
export const providerText = ({ name, source = name, version, aliases }: Provider): string =>
  [source, version ?? [], aliases.length > 0 ? `(${aliases.join(', ')})` : []].flat().join(' ')

/** `terraform-aws-modules/vpc/aws ~> 5.0` */
export const moduleText = ({ source, version }: ModuleCall): string =>
  [source ?? 'no source', version ?? []].flat().join(' ')

const kindTexts: Partial<Record<InterfaceChange['kind'], string>> = {
  requiredVersion: '',
  state: '',
  resource: '',
  parser: 'file',
}

/** `modules/a: input cidr` */
export function subjectOf({ kind, name, path }: InterfaceChange): string {
  const subject = [kindTexts[kind] ?? kind, name].filter((part) => part !== '').join(' ')
  return path === '' ? subject : `${path}: ${subject}`
}
